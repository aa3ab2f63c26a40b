// Information about processes from /proc. No function blocks.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace process {

struct ProcessStat {
  pid_t pid = 0;
  char state = '?';  // R, S, D, Z, ...
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  bool is_exiting = false;   // the kernel is removing it, but it is not a zombie yet
  uint64_t ticks = 0;        // clock ticks of CPU time, with that of reaped children
  uint64_t own_ticks = 0;    // without it: of a thread, its own
  uint64_t start_ticks = 0;  // clock ticks since boot: identifies the process together with pid and
                             // boot id
  std::string name;          // of the program or thread, at most 15 bytes
};

// kNotFound when there is no such process.
base::Result<ProcessStat> ReadStat(pid_t pid);
// Parses /proc/<pid>/stat; the program's name may contain anything.
base::Result<ProcessStat> ParseStat(std::string_view text);

// The stat of each thread of a process; empty when the process is gone.
std::vector<ProcessStat> ThreadsOf(pid_t pid);

// The id of the present boot.
base::Result<std::string> BootId();

std::vector<pid_t> AllPids();

// The children of several roots: if the kernel does not list children, /proc is read once. Create
// it anew for each use. One thread.
class ProcessTree {
 public:
  // Children, their children and so on, including zombies. More may be created meanwhile.
  std::vector<ProcessStat> DescendantsOf(pid_t root);

 private:
  // The children of all processes, once the kernel has listed no children.
  std::optional<std::unordered_multimap<pid_t, ProcessStat>> by_parent_;
};

// For a single root.
std::vector<ProcessStat> Descendants(pid_t root);

// The entries ("NAME=value") of the process's initial environment; empty for a zombie, and for a
// process of another user.
std::vector<std::string> EnvironmentOf(pid_t pid);
// Processes whose initial environment contains `entry` ("NAME=value"), except for zombies and those
// of other users.
std::vector<pid_t> FindByEnvironment(std::string_view entry);
bool HasInEnvironment(pid_t pid, std::string_view entry);

// The path in the unified hierarchy (cgroup v2) that the text of /proc/<pid>/cgroup contains; ""
// when it contains none. Pure.
std::string UnifiedCgroup(std::string_view text);

// The number of descriptors that the process has open; 0 when that may not be read.
size_t OpenDescriptors(pid_t pid);

// The process's resident memory in bytes, including shared pages; 0 when the process is gone.
int64_t ResidentBytes(pid_t pid);

// The bytes that the process has read and written so far, from a disk or not; 0 when that may not
// be read.
uint64_t TransferredBytes(pid_t pid);

// The kernel's count of out-of-memory kills since boot; 0 when unknown.
uint64_t OomKillCount();
// The count in a cgroup's memory.events (v2) or memory.oom_control (v1); nullopt when it cannot be
// read.
std::optional<uint64_t> OomKillsIn(const std::string& path);
// The same count for this process's own cgroup.
std::optional<uint64_t> OwnCgroupOomKills();

}  // namespace process
