#include "local/daemon/process_limits.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include "base/file.h"
#include "base/strings.h"
#include "process/procfs.h"

namespace local::daemon {
namespace {

// 0 for text that is not a number, such as "max".
int64_t NumberIn(const std::string& path) {
  const auto text = base::ReadFile(path, 4096);
  return text ? base::ParseInt(base::Trim(*text)).value_or(0) : 0;
}

}  // namespace

std::vector<ProcessBound> ReadProcessLimits(const std::string& root) {
  std::vector<ProcessBound> limits;
  const auto add = [&limits](int64_t processes, const std::string& by) {
    if (processes > 0) limits.push_back({processes, fmt::format("{} {}", by, processes)});
  };
  rlimit limit{};
  if (::getrlimit(RLIMIT_NPROC, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    add(static_cast<int64_t>(limit.rlim_cur), "ulimit -u");
  }
  add(NumberIn(root + "/proc/sys/kernel/pid_max"), "kernel.pid_max");
  const auto own = base::ReadFile(root + "/proc/self/cgroup", 64 << 10);
  for (std::string group = process::UnifiedCgroup(own.value_or("")); !group.empty();
       group = base::DirectoryOf(group)) {
    add(NumberIn(fmt::format("{}/sys/fs/cgroup{}/pids.max", root, group)), "the cgroup's pids.max");
    if (group == "/") break;
  }
  return limits;
}

}  // namespace local::daemon
