#include "process/signals.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <iterator>
#include <optional>
#include <utility>

#include "base/block_signals.h"

namespace process {
namespace {

constexpr int kOneRequestMillis = 100;

}  // namespace

base::Result<base::Fd> OpenSignalFd(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  if (const int failed = ::pthread_sigmask(SIG_BLOCK, &set, nullptr); failed != 0) {
    return base::Fail(base::Errno(failed, "block signals"));
  }
  base::Fd fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) return base::Fail(base::Errno(errno, "signalfd"));
  return fd;
}

std::optional<signalfd_siginfo> ReadSignal(int fd) {
  signalfd_siginfo info{};
  while (true) {
    const ssize_t count = ::read(fd, &info, sizeof info);
    if (count == static_cast<ssize_t>(sizeof info)) return info;
    if (count < 0 && errno == EINTR) continue;
    return std::nullopt;
  }
}

void IgnoreSignal(int signal) {
  struct sigaction action{};
  action.sa_handler = SIG_IGN;
  ::sigaction(signal, &action, nullptr);
}

void StopUntilContinued() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTSTP);
  sigset_t before;
  ::raise(SIGTSTP);
  ::pthread_sigmask(SIG_UNBLOCK, &set, &before);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

SignalThread::SignalThread(std::initializer_list<int> signals, std::function<void()> taken)
    : taken_(std::move(taken)), stop_(::eventfd(0, EFD_CLOEXEC)) {
  ::pthread_sigmask(SIG_BLOCK, nullptr, &before_);
  auto opened = OpenSignalFd(signals);
  if (!opened || !stop_) return;
  signals_ = *std::move(opened);
  const base::BlockSignals block;
  thread_ = std::thread([this] { Run(); });
}

SignalThread::~SignalThread() {
  if (thread_.joinable()) {
    ::eventfd_write(stop_.get(), 1);
    thread_.join();
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void SignalThread::Run() {
  for (;;) {
    pollfd fds[] = {{signals_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    if (::poll(fds, std::size(fds), -1) < 0 && errno != EINTR) return;
    if (fds[1].revents != 0) return;
    while (const auto signal = ReadSignal(signals_.get())) {
      std::optional<signalfd_siginfo> second;
      if (signal->ssi_pid != 0) {
        ::poll(fds, 1, kOneRequestMillis);
        second = ReadSignal(signals_.get());
      }
      taken_();
      if (second && second->ssi_pid != signal->ssi_pid) taken_();
    }
  }
}

}  // namespace process
