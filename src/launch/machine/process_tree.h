// The processes that hang below this one, and the end of all of them.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace launch {

// From now on an orphan among our descendants becomes our child (PR_SET_CHILD_SUBREAPER): nothing
// that a worker started can leave the tree.
void AdoptOrphans();

// Descendants that still run (no zombies), without `except` and what hangs below those.
std::vector<pid_t> RunningDescendants(const std::vector<pid_t>& except = {});
// Of another process.
std::vector<pid_t> RunningDescendantsOf(pid_t root, const std::vector<pid_t>& except);

void SignalAll(const std::vector<pid_t>& pids, int signal);

// Whether `signal` would end a process that still runs: it has not ended, and the signal is neither
// caught nor ignored nor blocked.
enum class EndedBySignal { kYes, kNo, kHasEnded };
EndedBySignal WouldEnd(pid_t pid, int signal);
// The same from the text of /proc/<pid>/status.
EndedBySignal WouldEnd(std::string_view status, int signal);

// Reaps children that have ended and are none of `kept`.
void ReapOrphans(const std::vector<pid_t>& kept);

// SIGKILL to every descendant until none is left, reaping all. Blocks; gives up on processes that
// the kernel does not let go (state D) after some seconds.
void KillTree();

// The kernel's count of processes killed for want of memory in this process's cgroup, else on the
// machine.
uint64_t OutOfMemoryKills();

}  // namespace launch
