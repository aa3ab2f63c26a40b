#include "processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <map>

#include "disk.h"
#include "threads.h"

namespace simulation {
namespace {

std::map<pid_t, KernelProcess*>& Processes() {
  static std::map<pid_t, KernelProcess*> processes;
  return processes;
}
// A pidfd here is a copy of an eventfd: whose, its number says.
std::map<ino_t, KernelProcess*>& ByDescriptor() {
  static std::map<ino_t, KernelProcess*> processes;
  return processes;
}

// Of eventfds every one has the same inode: they are distinguished by what /proc says about them.
ino_t NumberOf(int fd) {
  char path[64], text[256];
  std::snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
  const int info = RealOpen(path, O_RDONLY);
  const long count = ::syscall(SYS_read, info, text, sizeof text - 1);
  ::syscall(SYS_close, info);
  if (count <= 0) return 0;
  text[count] = 0;
  const std::string_view all(text);
  const size_t at = all.find("eventfd-id:");
  return at == std::string_view::npos ? 0 : std::strtoul(text + at + 11, nullptr, 10);
}

void WriteReal(const std::string& path, const std::string& text) {
  const int fd = RealOpen(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (::syscall(SYS_write, fd, text.data(), text.size()) < 0) GoneWrong("write " + path);
  ::syscall(SYS_close, fd);
}

std::string ProcOf(pid_t pid) { return fmt::format("{}/proc/{}", TheDisk()->root(), pid); }

}  // namespace

void Register(KernelProcess& process, unsigned long start_ticks) {
  const pid_t pid = process.pid();
  Processes()[pid] = &process;
  ByDescriptor()[NumberOf(process.ended())] = &process;
  ::syscall(SYS_mkdirat, AT_FDCWD, ProcOf(pid).c_str(), 0700);
  // proc_pid_stat(5)
  WriteReal(ProcOf(pid) + "/stat",
            fmt::format("{0} (muster-shim) S 1 {0} {0} 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 {1} 0\n",
                        pid, start_ticks));
}

void Forget(KernelProcess& process) {
  const auto found = Processes().find(process.pid());
  if (found != Processes().end() && found->second == &process) {
    Processes().erase(found);
    EmptyFolder(ProcOf(process.pid()));
    ::syscall(SYS_unlinkat, AT_FDCWD, ProcOf(process.pid()).c_str(), AT_REMOVEDIR);
  }
  std::erase_if(ByDescriptor(), [&](const auto& entry) { return entry.second == &process; });
}

void SetBootId(const std::string& boot_id) {
  std::string folder = TheDisk()->root();
  for (const char* const part : {"/proc", "/sys", "/kernel", "/random"}) {
    folder += part;
    ::syscall(SYS_mkdirat, AT_FDCWD, folder.c_str(), 0700);
  }
  WriteReal(folder + "/boot_id", boot_id + "\n");
}

int OpenSimulatedPidfd(pid_t pid) {
  const auto found = Processes().find(pid);
  if (found == Processes().end()) {
    errno = ESRCH;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fcntl, found->second->ended(), F_DUPFD_CLOEXEC, 0));
}

int SendSimulatedSignal(int pidfd, int signal, const siginfo_t* info) {
  const auto found = ByDescriptor().find(NumberOf(pidfd));
  if (found == ByDescriptor().end()) {
    errno = ESRCH;
    return -1;
  }
  if (!ThisProcess().is_dead) found->second->Signal(signal, info);
  return 0;
}

}  // namespace simulation
