// The actions of the page's buttons. Each is a muster command, and is shown as one. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "arena/app/app.h"
#include "base/result.h"
#include "text/json.h"

namespace dashboard {

struct Action {
  std::string verb;            // suspend, resume, delete, rerun
  std::string namespace_name;  // the run's
  std::string run;             // a job's name; for rerun also an id
  std::string uid;             // the job's; "" for a deleted run
};

// {"verb": "suspend", "namespace": "default", "run": "base", "uid": "..."}. kInvalidArgument names
// the member. Only names of jobs and ids of runs can reach a command line.
base::Result<Action> ParseAction(std::string_view json);

// The command's arguments, with the flags that select the cluster. The commands do not wait,
// because the page shows what happens next.
std::vector<std::string> WordsOf(const Action& action, const arena::GlobalFlags& flags);

// The command as a user would type it.
std::string CommandLine(std::string_view program, const std::vector<std::string>& words);

}  // namespace dashboard
