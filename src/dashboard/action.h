// What the page's buttons do: each is a command of muster's, and is shown as such. Pure.
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
  std::string namespace_name;  // of the run
  std::string run;             // a job's name; of rerun also an id
  std::string uid;             // of the job that was meant; "" of a run that is gone
};

// {"verb": "suspend", "namespace": "default", "run": "base", "uid": "..."}. kInvalidArgument names
// the member: nothing but names of jobs and ids of runs comes to a command line.
base::Result<Action> ParseAction(std::string_view json);

// The words that follow the program's name, with the cluster that `flags` choose. They return as
// soon as the cluster has them: what then happens the page shows by itself.
std::vector<std::string> WordsOf(const Action& action, const arena::GlobalFlags& flags);

// As a user types it.
std::string CommandLine(std::string_view program, const std::vector<std::string>& words);

}  // namespace dashboard
