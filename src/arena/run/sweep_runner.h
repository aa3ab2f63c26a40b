// Runs the trials of a sweep inside its pod, a few at a time.
#pragma once

#include <string>

#include "arena/app/app.h"
#include "base/environment.h"
#include "base/result.h"
#include "cli/terminal.h"

namespace arena {

// Runs the trials of `folder`/sweep.jsonl that have no line in `folder`/files/trials.jsonl, at most
// `parallel` at a time (0: one per GPU of the pod or, without GPUs, per CPU). Each trial is a
// process group with its own MUSTER_RUN_DIR (files/trials/N/files), MASTER_PORT, SWEEP_INDEX,
// SWEEP_<NAME> and share of CUDA_VISIBLE_DEVICES. Its output goes to files/trials/N/log and,
// prefixed with its values, to `out`. SIGTERM is passed on to all trials; trials that it ends run
// again next time. Blocks. Returns 0 when all trials succeeded, otherwise the exit code of the
// first failed one.
base::Result<int> RunTrials(const std::string& folder, int64_t parallel,
                            const base::Environment& environment, cli::Output& out);

// The hidden verb that the pod of a sweep runs: RunTrials in the folder that contains
// MUSTER_RUN_DIR.
inline constexpr const char* kRunTrials = "__trials";
// Starts the verb of this very program; for a shell.
std::string RunTrialsCommand(int64_t parallel);
void AddRunTrials(cli::Command& root, Context& context);

}  // namespace arena
