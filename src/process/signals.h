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

// What an unblocked SIGTSTP would do, for a thread that blocks it: stops the process until it is
// continued; nothing in an orphaned process group, which no shell would continue.
void StopUntilContinued();

// Calls `taken` on a thread of its own for each of these signals, while it exists; afterwards they
// do again what they did. Two of one sender within 100 ms are one: timeout(1) sends to the process
// and to its group. (What a terminal sends has no sender.) For the main thread.
class SignalThread {
 public:
  // If it cannot have a thread, the signals do what they did.
  SignalThread(std::initializer_list<int> signals, std::function<void()> taken);
  // Waits for `taken`.
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
