// Finds and ends all descendants of this process.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace launch {

// Makes orphans among our descendants our children (PR_SET_CHILD_SUBREAPER), so that nothing that a
// worker starts can leave the tree.
void AdoptOrphans();

// Descendants that still run (no zombies), without `except` and their descendants.
std::vector<pid_t> RunningDescendants(const std::vector<pid_t>& except = {});
// The same for another process.
std::vector<pid_t> RunningDescendantsOf(pid_t root, const std::vector<pid_t>& except);

void SignalAll(const std::vector<pid_t>& pids, int signal);

// Whether `signal` would end a process: it still runs, and neither catches, ignores nor blocks the
// signal.
enum class EndedBySignal { kYes, kNo, kHasEnded };
EndedBySignal WouldEnd(pid_t pid, int signal);
// The same, from the text of /proc/<pid>/status.
EndedBySignal WouldEnd(std::string_view status, int signal);

// Reaps children that have ended, except `kept`.
void ReapOrphans(const std::vector<pid_t>& kept);

// Sends SIGKILL to every descendant, without `kept` and their descendants, until none is left, and
// reaps them. Blocks, but gives up after a few seconds on processes that are stuck in the kernel
// (state D).
void KillTree(const std::vector<pid_t>& kept = {});

// How many processes the kernel has killed for lack of memory in this process's cgroup, else on the
// machine.
uint64_t OutOfMemoryKills();

}  // namespace launch
