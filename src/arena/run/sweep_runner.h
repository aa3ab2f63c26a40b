// What a sweep's pod runs: the trials, a few at a time.
#pragma once

#include <string>

#include "arena/app/app.h"
#include "base/environment.h"
#include "base/result.h"
#include "cli/terminal.h"

namespace arena {

// Runs the trials of `folder`/sweep.jsonl that have no line in `folder`/files/trials.jsonl, at most
// `parallel` at a time (0: one for each GPU that the pod has, else for each CPU). Each is a process
// group of its own with its own MUSTER_RUN_DIR (files/trials/N/files), MASTER_PORT, SWEEP_INDEX,
// SWEEP_<NAME> and share of CUDA_VISIBLE_DEVICES; what it prints goes to files/trials/N/log and,
// behind its values, to `out`. SIGTERM goes to all of them: the ones that it ends are run again
// next time. Blocks. The exit code: 0 when all trials succeeded, else that of the first one that
// failed.
base::Result<int> RunTrials(const std::string& folder, int64_t parallel,
                            const base::Environment& environment, cli::Output& out);

// The hidden verb that does so with the folder that MUSTER_RUN_DIR is in: what the pod of a sweep
// runs.
inline constexpr const char* kRunTrials = "__trials";
void AddRunTrials(cli::Command& root, Context& context);

}  // namespace arena
