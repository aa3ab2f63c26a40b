// Ranks that run no Python that can be asked, such as C++ programs: what the kernel says of them.
#pragma once

#include <sys/types.h>

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "answers/stall/stall.h"
#include "process/procfs.h"

namespace witness {

struct NativeRank {
  std::string folder;  // of its pod (FolderOfPod)
  int rank = 0;
  int world = 0;  // 0: unknown
  pid_t pid = 0;  // of its processes, the one that has used the most CPU time
};

// The ranks of the pods with these folders, by their environment. Reads the environment of every
// process of this user.
std::vector<NativeRank> NativeRanksOf(const std::set<std::string>& folders);

// The counters of the process and of all that it has started together, with all of their threads:
// whichever of them works or is sent something, the rank does.
answers::Activity NativeActivityOf(pid_t pid, process::ProcessTree& tree);

// Where the rank sleeps; nullopt if it may wait for a GPU, which the kernel does not count.
std::optional<answers::KernelSleep> KernelSleepOf(pid_t pid, process::ProcessTree& tree);

// Where in the kernel the main thread sleeps: "futex_do_wait"; "" if it does not, or if the kernel
// does not say so.
std::string KernelPlaceOf(pid_t pid);

// "waits for another thread (futex_do_wait)"; "" for "". Pure.
std::string SayKernelPlace(std::string_view place);

}  // namespace witness
