#include "ads/interrupts.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "base/block_signals.h"
#include "cli/click.h"
#include "process/signals.h"

namespace ads {
namespace {

bool IsIgnored(int signal) {
  struct sigaction action{};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

base::Result<std::unique_ptr<Interrupts>> Interrupts::Catch(oci::Breaker& breaker) {
  sigset_t before;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
  base::Fd stop(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop) return base::Fail(base::Errno(errno, "eventfd"));
  // A blocked signal reaches the descriptor even if it is ignored.
  const int hang_up = IsIgnored(SIGHUP) ? SIGINT : SIGHUP;
  const int terminate = IsIgnored(SIGTERM) ? SIGINT : SIGTERM;
  TRY_ASSIGN(base::Fd signals, process::OpenSignalFd({SIGINT, hang_up, terminate}));
  sigset_t pipe;
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  return std::unique_ptr<Interrupts>(
      new Interrupts(breaker, before, std::move(signals), std::move(stop)));
}

Interrupts::Interrupts(oci::Breaker& breaker, const sigset_t& before, base::Fd signals,
                       base::Fd stop)
    : breaker_(breaker), before_(before), signals_(std::move(signals)), stop_(std::move(stop)) {
  const base::BlockSignals in_the_thread;
  thread_ = std::thread([this] { Run(); });
}

Interrupts::~Interrupts() {
  const uint64_t one = 1;
  (void)!::write(stop_.get(), &one, sizeof one);
  thread_.join();
  breaker_.Mend();
  // Removes a pending SIGPIPE, so that it does not end the process later.
  sigset_t pipe;
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  const timespec now{};
  while (::sigtimedwait(&pipe, nullptr, &now) == SIGPIPE) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void Interrupts::Run() {
  pollfd waited[] = {{signals_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
  while (true) {
    if (::poll(waited, 2, -1) < 0 && errno != EINTR) return;
    if (waited[1].revents != 0) return;
    (void)HasCome();
  }
}

// Either thread may find it: a signal sent before this call is known after it.
bool Interrupts::HasCome() {
  const std::lock_guard lock(mutex_);
  while (process::ReadSignal(signals_.get())) breaker_.Break();
  return breaker_.is_broken();
}

void Interrupts::Rearm() {
  const std::lock_guard lock(mutex_);
  while (process::ReadSignal(signals_.get())) {
  }
  breaker_.Mend();
}

base::Result<int> ExitOrInterrupted(base::Result<int> result, cli::Output& err) {
  if (result || result.error().code != base::Code::kCancelled) return result;
  (void)err.Write(cli::ClickFailure(result.error()));
  return cli::kExitInterrupted;
}

}  // namespace ads
