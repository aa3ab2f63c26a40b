// Asks Python processes for their stacks (warm/python/stacks.py): each process that has the
// start-up hook keeps a file named by its pid in the folder that MUSTER_STACKS names, and writes
// its stacks there on a signal.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "answers/stall/stall.h"
#include "base/clock.h"
#include "process/procfs.h"

namespace witness {

inline constexpr const char* kStacksVariable = "MUSTER_STACKS";

// The folder of a pod of the embedded cluster. The pod's processes create it.
std::string FolderOfPod(const std::string& state_directory, std::string_view pod_uid);

// The file in which whoever kills a rank for a stall says why (answers::Say), for the launcher that
// started it. `folder`: of the pod.
std::string StallKillFileOf(const std::string& folder, pid_t pid);

// The folder in which a running process was told to write; "" when it was not, or when the folder
// belongs to somebody else.
std::string FolderOf(pid_t pid);

// A process that can be asked.
struct Asked {
  pid_t pid = 0;
  int rank = -1;  // -1: not a rank
  int world = 0;
  bool is_child = false;  // forked by another of them, like the workers of a DataLoader
};

// The processes of the folder that run and still have the hook, by pid. No other process is ever
// sent the signal, which would end it.
std::vector<Asked> ProcessesIn(const std::string& folder);

// The ranks among the processes of a pod: for each rank its first process, not the ones that it has
// forked.
std::map<int, Asked> RanksAmong(const std::vector<Asked>& processes);

using PidsByFolder = std::map<std::string, std::vector<pid_t>>;

// kAll: of a process whose main thread is not in Python's own code, and whose other threads do not
// sleep, only the main thread is asked for. A thread that wakes up within the milliseconds of the
// answer is a risk that remains; nobody but a person takes it.
enum class Threads { kMain, kAll };

// Asks several processes at once, and crashes none: faulthandler's handler reads frames that may
// change meanwhile. So it is called only while the main thread sleeps. A main thread at work is
// asked to answer between two of Python's instructions instead, and by faulthandler if it works on
// without doing so: then it is not in Python's own code. One thread.
class Question {
 public:
  // Processes outside of their folder, or that cannot be signalled, will not answer. Blocks for ten
  // milliseconds.
  explicit Question(const PidsByFolder& asked, Threads threads = Threads::kMain);
  Question(Question&&) noexcept;
  ~Question();

  // Of kAll, after Await: the processes in which another thread was at work.
  std::set<pid_t> Busy() const;

  // Whether one that can still answer has not: it may be waiting for a processor. A stopped one
  // answers once it continues. Asks again who must be asked in another way.
  bool LacksAnswers();
  // The answers so far, by pid; complete when no more output has come for some milliseconds.
  std::map<pid_t, std::string> Answers() const;
  // Blocks until all have answered, for at most `limit`.
  std::map<pid_t, std::string> Await(std::chrono::milliseconds limit);

 private:
  class Asking;  // one process
  void Advance();

  std::vector<Asking> askings_;
};

// The kernel's counters of the process, and what it has written in its folder. All zero, with state
// '?', when it is gone. `tree`: of this look, for all of its processes.
answers::Activity ActivityOf(const std::string& folder, pid_t pid, process::ProcessTree& tree);

// How often a thread of the process has slept; nullopt if it is gone.
std::optional<uint64_t> SwitchesOf(pid_t pid, pid_t thread);

// Whether another thread of the process, or a process below it, waits for a processor or for a
// disk. On a busy machine one can wait for seconds, in which no counter changes. Threads that only
// answer us do not count, nor those that only poll (one of PyTorch's store does so 100 times a
// second, and hardly does anything else than wait for a processor there), nor the main thread,
// whose state is in its Activity.
bool HasWorkToDo(pid_t pid, process::ProcessTree& tree);
// The ranks for which it is true. Call it before a Question, which wakes their threads up.
std::set<int> RanksWithWork(const std::vector<answers::RankLook>& looks,
                            process::ProcessTree& tree);

// What a rank has noted when it crashed.
struct RankCrash {
  int rank = -1;  // -1: not a rank
  base::Time time{};
  std::string text;  // answers::Say(Crash)
};
// Returns the crash of a process; nullopt if it has noted none.
std::optional<RankCrash> CrashOf(const std::string& folder, pid_t pid);
// Returns the crashes of a pod's ranks since then, the earliest first; the last one of a rank that
// crashed in several attempts. Forked processes do not count.
std::vector<RankCrash> CrashesIn(const std::string& folder, base::Time since);

// A line of a source file, counted from 1; "" when it cannot be read. Blocks for a moment, and
// opens only regular files whose names end with .py, because a rank has written the name.
std::string SourceLine(std::string_view file, int line);

}  // namespace witness
