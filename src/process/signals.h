// Signals as file descriptors.
#pragma once

#include <signal.h>
#include <sys/signalfd.h>

#include <functional>
#include <initializer_list>
#include <optional>
#include <thread>

#include "base/fd.h"
#include "base/result.h"

namespace process {

// Blocks `signals` in the calling thread (call it before other threads start) and returns a
// non-blocking descriptor that is readable while one is pending.
base::Result<base::Fd> OpenSignalFd(std::initializer_list<int> signals);

// The next pending signal; nullopt when there is none.
std::optional<signalfd_siginfo> ReadSignal(int fd);

void IgnoreSignal(int signal);

// Does what an unblocked SIGTSTP would do, for a thread that blocks it: stops the process until it
// is continued. Does nothing in an orphaned process group, which no shell would continue.
void StopUntilContinued();

// While it exists, calls `taken` on a thread of its own for each of these signals; afterwards they
// have their former effect. Two signals of one sender within 100 ms count as one, because
// timeout(1) signals the process and its group. (Signals from a terminal have no sender.) For the
// main thread.
class SignalThread {
 public:
  // If no thread can be started, the signals keep their effect.
  SignalThread(std::initializer_list<int> signals, std::function<void()> taken);
  // Waits for a call of `taken` that is under way.
  ~SignalThread();
  SignalThread(const SignalThread&) = delete;
  SignalThread& operator=(const SignalThread&) = delete;

 private:
  void Run();

  sigset_t before_{};
  const std::function<void()> taken_;
  base::Fd signals_;
  base::Fd stop_;
  std::thread thread_;
};

}  // namespace process
