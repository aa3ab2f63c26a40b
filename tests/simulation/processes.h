// The simulated machine's processes as its kernel has them: pidfds, signals, /proc.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <string>

namespace simulation {

class KernelProcess {
 public:
  virtual ~KernelProcess() = default;
  virtual pid_t pid() const = 0;
  virtual void Signal(int signal, const siginfo_t* info) = 0;
};

// From now on, until Forget. `start_ticks` distinguishes it from another of the same number.
void Register(KernelProcess& process, unsigned long start_ticks);
// It has ended: its number may be another's. Descriptors of it stay.
void Forget(KernelProcess& process);
void SetBootId(const std::string& boot_id);

// As the system calls do: -1 and errno. A signal of a process that is dead itself is not sent.
int OpenSimulatedPidfd(pid_t pid);
int SendSimulatedSignal(int pidfd, int signal, const siginfo_t* info);

}  // namespace simulation
