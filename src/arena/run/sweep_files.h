// The files of a sweep in its run's folder on this machine (formats/snapshots.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arena/run/sweep_table.h"
#include "base/result.h"

namespace arena {

// Whether `folder` is a sweep's run folder.
bool IsSweep(const std::string& folder);

// The folder of a trial, with its log; `files` is the run's MUSTER_RUN_DIR.
std::string FolderOfTrial(const std::string& files, int64_t index);

// All trials, by index, with the results of the ones that have ended. Blocks.
base::Result<std::vector<TrialRow>> ReadTrials(const std::string& folder);

}  // namespace arena
