// A sweep in a pod of another cluster: what travels with the job, and what its log says. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "arena/run/sweep.h"
#include "arena/run/sweep_table.h"

namespace arena {

// python/sweep.py, which runs the trials, and the modules that it imports.
extern const std::string_view kSweepProgram;
extern const std::string_view kPrintedMetricsModule;
extern const std::string_view kLoggedScalarsModule;

// The program with the trials: contents by path, relative to the folder of the job's code.
std::map<std::string, std::string> SweepFiles(const std::vector<Trial>& trials);

// Starts the program where the code is unpacked; for a shell. With `parallel` 0 as many trials run
// at a time as there are GPUs, or CPUs.
std::string SweepCommand(std::string_view code_folder, int64_t parallel, int64_t gpus);

// Whether a line of the log is the result of a trial.
bool IsTrialResult(std::string_view line);
// The trials that have ended, by their results in a log: the last one of each counts, malformed
// ones are skipped. Without commands.
std::vector<TrialRow> TrialsOfLog(std::string_view log);

}  // namespace arena
