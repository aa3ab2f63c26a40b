// MUSTER_RUN_DIR on another cluster: a folder of a claim (--run-volume). Pure.
#pragma once

#include <optional>
#include <string>

#include "arena/submit/options.h"
#include "text/json.h"

namespace arena {

// Has the replicas see a folder of `claim` of their own, `folder`, which MUSTER_RUN_DIR names.
void AddRunVolume(const std::string& claim, const std::string& folder, SubmitOptions& options);
// The folder that a job had so, to be read by another one; nullopt of a job without.
std::optional<ClaimFolder> RunVolumeOf(const text::Json& job);
// Has the replicas see it where MUSTER_RESUME_DIR says, for reading.
void AddResumeVolume(const ClaimFolder& folder, SubmitOptions& options);

}  // namespace arena
