#include "processes.h"

#include <fmt/format.h>

#include <cerrno>
#include <map>
#include <memory>
#include <string>

#include "descriptors.h"
#include "disk.h"
#include "threads.h"

namespace simulation {
namespace {

class Pidfd final : public Description {
 public:
  explicit Pidfd(KernelProcess& process) : process_(&process) {}
  bool IsReadable() const override { return process_ == nullptr; }
  KernelProcess* process() const { return process_; }
  void End() {
    process_ = nullptr;
    HasNews();
  }

 private:
  KernelProcess* process_;  // nullptr once it has ended
};

struct Known {
  KernelProcess* process;
  std::shared_ptr<Pidfd> descriptor;  // of which others are copies
};

std::map<pid_t, Known>& Processes() {
  static std::map<pid_t, Known> processes;
  return processes;
}

std::string ProcOf(pid_t pid) { return fmt::format("/proc/{}", pid); }

}  // namespace

void Register(KernelProcess& process, unsigned long start_ticks) {
  const pid_t pid = process.pid();
  Processes()[pid] = {&process, std::make_shared<Pidfd>(process)};
  // proc_pid_stat(5)
  TheDisk()->tree().Have(
      ProcOf(pid) + "/stat",
      fmt::format("{0} (muster-shim) S 1 {0} {0} 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 {1} 0\n", pid,
                  start_ticks));
}

void Forget(KernelProcess& process) {
  const auto found = Processes().find(process.pid());
  if (found == Processes().end() || found->second.process != &process) return;
  found->second.descriptor->End();
  Processes().erase(found);
  TheDisk()->tree().Forget(ProcOf(process.pid()));
}

void SetBootId(const std::string& boot_id) {
  TheDisk()->tree().Have("/proc/sys/kernel/random/boot_id", boot_id + "\n");
}

int OpenSimulatedPidfd(pid_t pid) {
  const auto found = Processes().find(pid);
  return found == Processes().end() ? Refused(ESRCH) : NewDescriptor(found->second.descriptor);
}

int SendSimulatedSignal(int pidfd, int signal, const siginfo_t* info) {
  const auto descriptor = Described<Pidfd>(pidfd);
  KernelProcess* const process = descriptor ? descriptor->process() : nullptr;
  if (process == nullptr) return Refused(ESRCH);
  if (!ThisProcess().is_dead) process->Signal(signal, info);
  return 0;
}

}  // namespace simulation
