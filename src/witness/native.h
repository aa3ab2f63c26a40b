// Ranks that run no Python that can be asked, such as C++ programs: what the kernel says of them.
#pragma once

#include <sys/types.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace witness {

struct NativeRank {
  std::string folder;  // of its pod (FolderOfPod)
  int rank = 0;
  pid_t pid = 0;  // of its processes, the one that has used the most CPU time
};

// The ranks of the pods with these folders, by their environment. Reads the environment of every
// process of this user.
std::vector<NativeRank> NativeRanksOf(const std::set<std::string>& folders);

// Where in the kernel the main thread sleeps: "futex_do_wait"; "" if it does not, or if the kernel
// does not say so.
std::string KernelPlaceOf(pid_t pid);

// "waits for another thread (futex_do_wait)"; "" for "". Pure.
std::string SayKernelPlace(std::string_view place);

}  // namespace witness
