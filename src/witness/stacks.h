// Has Python processes tell where they stand (warm/python/stacks.py): each that has the start-up
// hook keeps a file named by its pid in the folder that MUSTER_STACKS names, and writes its stacks
// there on a signal.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "answers/stall/stall.h"

namespace witness {

inline constexpr const char* kStacksVariable = "MUSTER_STACKS";

// Of a pod of the embedded cluster. Its processes make it.
std::string FolderOfPod(const std::string& state_directory, std::string_view pod_uid);

// Where a running process was told to say it; "" when it was not, or belongs to somebody else.
std::string FolderOf(pid_t pid);

// A process that can be asked.
struct Asked {
  pid_t pid = 0;
  int rank = -1;  // -1: none
  int world = 0;
  bool is_child = false;  // forked by another of them, as the workers of a DataLoader are
};

// Those of the folder that run and still have the hook, by pid. Nobody else is ever sent the
// signal, which would end it.
std::vector<Asked> ProcessesIn(const std::string& folder);

// The ranks among the processes of a pod: of each its first process, not what that has forked.
std::map<int, Asked> RanksAmong(const std::vector<Asked>& processes);

// Several at once. One thread.
class Question {
 public:
  // Processes outside `folder`, or that cannot be signalled, will write nothing.
  Question(std::string folder, const std::vector<pid_t>& pids);

  // What has come so far, by pid; complete when nothing more comes for some milliseconds.
  std::map<pid_t, std::string> Answers() const;
  // Blocks until all have answered, at most for `limit`.
  std::map<pid_t, std::string> Await(std::chrono::milliseconds limit) const;

 private:
  std::string folder_;
  std::map<pid_t, uint64_t> sizes_;  // of the files, before they were asked
};

// What the kernel counts of it, and what it has told in its folder. All zero, with state '?', when
// it has gone.
answers::Activity ActivityOf(const std::string& folder, pid_t pid);

// A line of a source file, the first being 1; "" when it cannot be read. Blocks for a moment, and
// opens regular files that end with .py alone: the name is what a rank has written.
std::string SourceLine(std::string_view file, int line);

}  // namespace witness
