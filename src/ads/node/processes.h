// NodeProcesses: the training's processes on one node, one for each GPU.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace ads {

struct NodeProcess {
  std::vector<std::string> argv;
  std::vector<std::string> env;  // "NAME=value", complete
};

struct NodeOutcome {
  int exit_code = 0;          // of the first that failed; 128+n of a signal
  bool was_told = false;      // they were ended because `must_stop` said so
  std::optional<int> signal;  // they were ended because this program was told to by it
};

// Called when a process has been started: its pid and its place in the list.
using StartedFunction = std::function<void(int pid, size_t index)>;

// When the others have to be asked whether to go on: `changes_fd` becomes readable, or, where that
// is -1, each second, on a thread of its own.
struct StopWatch {
  int changes_fd = -1;
  std::function<bool()> must_stop;  // unset: nobody asks
};

// Starts them all (`argv[0]` is looked for on `path_list`, python3 for python; in `directory`), and
// returns when all have ended. One that fails, a SIGTERM or SIGINT, or must_stop ends the others:
// SIGTERM to their groups, SIGKILL ten seconds later. Blocks; the calling thread's signal mask
// stays with SIGTERM and SIGINT held back.
base::Result<NodeOutcome> RunNodeProcesses(const std::vector<NodeProcess>& processes,
                                           const std::string& path_list,
                                           const std::string& directory, const StopWatch& watch,
                                           base::Clock& clock, const StartedFunction& started);

}  // namespace ads
