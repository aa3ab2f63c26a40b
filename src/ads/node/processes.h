// NodeProcesses: the training processes of one node, one for each GPU.
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
  int exit_code = 0;          // of the first that failed; 128+n for a signal
  bool was_stopped = false;   // they were ended because `must_stop` returned true
  std::optional<int> signal;  // the signal to this program for which they were ended
};

// Called for each started process, with its pid and its index in the list.
using StartedFunction = std::function<void(int pid, size_t index)>;

// When to check whether to continue: when `changes_fd` becomes readable, or, if that is -1, each
// second, on a thread of its own.
struct StopWatch {
  int changes_fd = -1;
  std::function<bool()> must_stop;  // unset: there is no check
};

// Starts all processes (`argv[0]` is searched in `path_list`, python3 for python; in `directory`)
// and returns when all have ended. If one fails, or after SIGTERM, SIGINT or must_stop, ends the
// others: SIGTERM to their groups, SIGKILL ten seconds later. Blocks; SIGTERM and SIGINT stay
// blocked in the calling thread.
base::Result<NodeOutcome> RunNodeProcesses(const std::vector<NodeProcess>& processes,
                                           const std::string& path_list,
                                           const std::string& directory, const StopWatch& watch,
                                           base::Clock& clock, const StartedFunction& started);

}  // namespace ads
