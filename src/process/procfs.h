// What /proc knows of processes. Nothing here blocks.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace process {

struct ProcessStat {
  pid_t pid = 0;
  char state = '?';  // R, S, D, Z, ...
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  bool is_exiting = false;   // it is on its way out of the kernel, and no zombie yet
  uint64_t start_ticks = 0;  // clock ticks since boot: with pid and boot id, an identity
};

// kNotFound when there is no such process.
base::Result<ProcessStat> ReadStat(pid_t pid);
// The text of /proc/<pid>/stat; a program's name may hold anything.
base::Result<ProcessStat> ParseStat(std::string_view text);

// Of the running kernel.
base::Result<std::string> BootId();

std::vector<pid_t> AllPids();

// Children, their children and so on, zombies included. A snapshot: more may be born meanwhile.
std::vector<ProcessStat> Descendants(pid_t root);

// Processes whose initial environment holds `entry` ("NAME=value"), zombies and those of other
// users excluded.
std::vector<pid_t> FindByEnvironment(std::string_view entry);
bool HasInEnvironment(pid_t pid, std::string_view entry);

// Memory that it has in RAM, shared pages too; 0 of a process that is gone.
int64_t ResidentBytes(pid_t pid);

// The kernel's count of processes killed for want of memory since boot; 0 when unknown.
uint64_t OomKillCount();

}  // namespace process
