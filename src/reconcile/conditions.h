// The list of conditions and the rules by which it changes. Clients compare whole lists, so the
// order and the texts are part of the contract (compat/pytorchjob.md 2.5).
#pragma once

#include <string>
#include <string_view>

#include "api/job/pytorch_job.h"
#include "base/clock.h"

namespace reconcile {

inline constexpr std::string_view kCreated = "Created";
inline constexpr std::string_view kRunning = "Running";
inline constexpr std::string_view kRestarting = "Restarting";
inline constexpr std::string_view kSucceeded = "Succeeded";
inline constexpr std::string_view kFailed = "Failed";
inline constexpr std::string_view kSuspended = "Suspended";

inline constexpr std::string_view kCreatedReason = "PyTorchJobCreated";
inline constexpr std::string_view kRunningReason = "PyTorchJobRunning";
inline constexpr std::string_view kRestartingReason = "PyTorchJobRestarting";
inline constexpr std::string_view kSucceededReason = "PyTorchJobSucceeded";
inline constexpr std::string_view kFailedReason = "PyTorchJobFailed";
inline constexpr std::string_view kSuspendedReason = "PyTorchJobSuspended";
inline constexpr std::string_view kResumedReason = "PyTorchJobResumed";

// Replaces the condition of that type by the new one, at the end of the list, and returns true.
// Leaves the list alone and returns false when the job has failed, or when status and reason are
// unchanged. Running and Restarting remove each other; Succeeded and Failed set both to False in
// place.
bool SetCondition(api::JobStatus& status, std::string_view type, bool is_true,
                  std::string_view reason, std::string message, base::Time now);

// Drops the condition of that type, if there is one.
void DropCondition(api::JobStatus& status, std::string_view type);

bool AreEqual(const api::JobStatus& a, const api::JobStatus& b);

}  // namespace reconcile
