#include "arena/streams/exec_session.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <thread>

#include "base/fd.h"
#include "process/signals.h"

namespace arena {
namespace {

constexpr size_t kReadBytes = 32 << 10;

// The terminal's mode during a session. In raw mode, ^C is a byte for the command.
class RawMode {
 public:
  static base::Result<RawMode> Enter(int terminal) {
    RawMode mode(terminal);
    if (::tcgetattr(terminal, &mode.before_) != 0) {
      return base::Fail(base::Errno(errno, "read the terminal's settings"));
    }
    termios raw = mode.before_;
    ::cfmakeraw(&raw);
    if (::tcsetattr(terminal, TCSANOW, &raw) != 0) {
      return base::Fail(base::Errno(errno, "set the terminal's mode"));
    }
    mode.is_set_ = true;
    return mode;
  }
  RawMode(RawMode&& other) noexcept
      : terminal_(other.terminal_),
        before_(other.before_),
        is_set_(std::exchange(other.is_set_, false)) {}
  RawMode& operator=(RawMode&&) = delete;
  ~RawMode() {
    if (is_set_) ::tcsetattr(terminal_, TCSANOW, &before_);
  }

 private:
  explicit RawMode(int terminal) : terminal_(terminal) {}

  const int terminal_;
  termios before_{};
  bool is_set_ = false;
};

// Receives signals by descriptor, and restores the thread's mask at the end.
class TakenSignals {
 public:
  static base::Result<TakenSignals> Take() {
    TakenSignals taken;
    ::pthread_sigmask(SIG_BLOCK, nullptr, &taken.before_);
    TRY_ASSIGN(taken.ending_, process::OpenSignalFd({SIGINT, SIGTERM, SIGHUP, SIGQUIT}));
    TRY_ASSIGN(taken.resized_, process::OpenSignalFd({SIGWINCH}));
    return taken;
  }
  TakenSignals(TakenSignals&& other) noexcept = default;
  TakenSignals& operator=(TakenSignals&&) = delete;
  ~TakenSignals() {
    if (resized_) ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  int ending() const { return ending_.get(); }
  int resized() const { return resized_.get(); }

 private:
  TakenSignals() = default;

  sigset_t before_{};
  base::Fd ending_;
  base::Fd resized_;
};

// The main thread handles output. Two more handle input and the terminal's size, and the signals
// that end everything.
class Session {
 public:
  Session(cluster::ExecStream& stream, const LocalStreams& streams, int ending, int resized,
          base::Fd stop)
      : stream_(stream),
        streams_(streams),
        ending_(ending),
        resized_(resized),
        stop_(std::move(stop)),
        input_thread_([this] { CarryInput(); }),
        signal_thread_([this] { AwaitSignal(); }) {}
  ~Session() {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(stop_.get(), &one, sizeof one);
    stream_.Cancel();
  }

  base::Result<int> CarryOutput() {
    while (true) {
      auto output = stream_.Read();
      if (const int signal = signal_.load(); signal != 0) return 128 + signal;
      if (!output) return base::Fail(std::move(output.error()));
      if (!*output) return stream_.result();
      TRY(((*output)->is_stderr ? streams_.err : streams_.out).Write((*output)->bytes));
    }
  }

 private:
  // The index of the first ready descriptor; -1: none.
  template <size_t count>
  static int Await(const std::array<int, count>& fds) {
    std::array<pollfd, count> polled{};
    for (size_t i = 0; i < count; ++i) polled[i] = {fds[i], POLLIN, 0};
    while (::poll(polled.data(), polled.size(), -1) < 0 && errno == EINTR) {
    }
    for (size_t i = 0; i < count; ++i) {
      if (polled[i].revents != 0) return fds[i];
    }
    return -1;
  }

  // If the command reads no more, or the connection is gone, the main thread notices.
  void CarryInput() {
    SendSize();
    int input = streams_.input;
    while (true) {
      const int ready = Await(std::array{stop_.get(), resized_, input});
      if (ready == stop_.get() || ready < 0) return;
      if (ready == resized_) {
        while (process::ReadSignal(resized_)) {
        }
        SendSize();
        continue;
      }
      std::string bytes(kReadBytes, '\0');
      const ssize_t count = ::read(input, bytes.data(), bytes.size());
      if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (count > 0) {
        bytes.resize(static_cast<size_t>(count));
        if (stream_.WriteStdin(bytes)) continue;
      }
      (void)stream_.CloseStdin();
      input = -1;
    }
  }

  void AwaitSignal() {
    if (Await(std::array{stop_.get(), ending_}) != ending_) return;
    const auto info = process::ReadSignal(ending_);
    signal_ = info ? static_cast<int>(info->ssi_signo) : SIGTERM;
    stream_.Cancel();
  }

  void SendSize() {
    winsize size{};
    if (!streams_.is_terminal || ::ioctl(streams_.input, TIOCGWINSZ, &size) != 0) return;
    (void)stream_.Resize(size.ws_col, size.ws_row);
  }

  cluster::ExecStream& stream_;
  const LocalStreams& streams_;
  const int ending_;   // signalfd, or -1
  const int resized_;  // likewise
  const base::Fd stop_;
  std::atomic<int> signal_ = 0;
  std::jthread input_thread_;
  std::jthread signal_thread_;
};

}  // namespace

base::Result<int> CarrySession(cluster::ExecStream& stream, const LocalStreams& streams) {
  base::Fd stop(::eventfd(0, EFD_CLOEXEC));
  if (!stop) return base::Fail(base::Errno(errno, "eventfd"));
  if (!streams.is_terminal) {
    return Session(stream, streams, -1, -1, std::move(stop)).CarryOutput();
  }
  // In this order, so that a signal in between still restores the terminal.
  TRY_ASSIGN(const TakenSignals signals, TakenSignals::Take());
  TRY_ASSIGN(const RawMode raw, RawMode::Enter(streams.input));
  return Session(stream, streams, signals.ending(), signals.resized(), std::move(stop))
      .CarryOutput();
}

}  // namespace arena
