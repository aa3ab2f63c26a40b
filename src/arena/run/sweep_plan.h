// Turns the --sweep flags of a `run` into trials.
#pragma once

#include <string>
#include <vector>

#include "arena/run/program.h"
#include "arena/run/sweep.h"
#include "base/result.h"

namespace arena {

struct SweepPlan {
  std::vector<Trial> trials;
  Program program;    // of a trial
  std::string shown;  // the job's command, for people: `python train.py {lr} (5 trials)`
};

// `words`, `module` and `line_label` are ReadProgram's. Errors are those of ReadSweep, with which
// it reads files, and of Substituted.
base::Result<SweepPlan> PlanSweep(const std::vector<std::string>& sweeps, size_t max,
                                  const std::vector<std::string>& words, const std::string& module,
                                  const std::string& line_label);

}  // namespace arena
