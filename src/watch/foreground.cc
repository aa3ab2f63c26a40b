#include "watch/foreground.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "process/pidfd.h"
#include "process/signals.h"
#include "watch/terminal.h"

namespace watch {
namespace {

enum class Woken { kReadable, kInterrupted, kEnded };

// Blocks until `fd` is readable or a signal comes that matters: ^C, or one that ends `watch`, which
// is then in `number`.
Woken AwaitWithSignals(int fd, int signals, int& number) {
  for (;;) {
    std::array<pollfd, 2> fds = {{{fd, POLLIN, 0}, {signals, POLLIN, 0}}};
    if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) return Woken::kReadable;
    while (const auto signal = process::ReadSignal(signals)) {
      number = static_cast<int>(signal->ssi_signo);
      if (number == SIGTSTP) {
        process::StopUntilContinued();
      } else if (number == SIGINT) {
        return Woken::kInterrupted;
      } else if (number != SIGQUIT && number != SIGWINCH && number != SIGCONT) {
        return Woken::kEnded;
      }
    }
    if (fds[0].revents != 0) return Woken::kReadable;
  }
}

}  // namespace

base::Result<std::optional<int>> RunInForeground(const process::SpawnOptions& program,
                                                 int signals) {
  TRY_ASSIGN(const pid_t pid, process::Spawn(program));
  TRY_ASSIGN(const base::Fd running, process::OpenPidfd(pid));
  int number = 0;
  Woken woken = Woken::kInterrupted;
  while (woken == Woken::kInterrupted) woken = AwaitWithSignals(running.get(), signals, number);
  if (woken == Woken::kEnded) {
    // It may have ended by itself meanwhile.
    static_cast<void>(process::SendSignal(running.get(), number));
    return std::optional(number);
  }
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  Terminal::Write("\r\nenter goes back to watch");
  woken = AwaitWithSignals(STDIN_FILENO, signals, number);
  if (woken == Woken::kEnded) return std::optional(number);
  if (woken == Woken::kInterrupted) Terminal::Write("\n");
  char typed = 0;
  while (woken == Woken::kReadable && ::read(STDIN_FILENO, &typed, 1) == 1 && typed != '\n') {
  }
  return std::optional<int>();
}

}  // namespace watch
