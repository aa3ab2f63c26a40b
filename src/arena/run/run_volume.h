// MUSTER_RUN_DIR on Kubernetes: a folder of a volume claim (--run-volume). Pure.
#pragma once

#include <optional>
#include <string>

#include "arena/submit/job/options.h"
#include "text/json.h"

namespace arena {

// Mounts the folder `folder` of `claim` into the replicas and points MUSTER_RUN_DIR at it.
void AddRunVolume(const std::string& claim, const std::string& folder, SubmitOptions& options);
// The folder that AddRunVolume gave a job, for another job to read; nullopt if it has none.
std::optional<ClaimFolder> RunVolumeOf(const text::Json& job);
// Mounts it read-only into the replicas and points MUSTER_RESUME_DIR at it.
void AddResumeVolume(const ClaimFolder& folder, SubmitOptions& options);

}  // namespace arena
