#include "reconcile/limits/limits.h"

#include <fmt/format.h>

#include "reconcile/conditions.h"
#include "reconcile/limits/backoff_limit.h"
#include "reconcile/limits/deadline.h"
#include "reconcile/limits/stall.h"

namespace reconcile {
namespace {

std::string BackoffMessage(const JobState& state) {
  return fmt::format("Job {} has failed because it has reached the specified backoff limit",
                     state.job.name);
}

std::string DeadlineMessage(const JobState& state) {
  return fmt::format("Job {} has failed because it was active longer than specified deadline",
                     state.job.name);
}

std::string StallMessage(const JobState& state) {
  return fmt::format("Job {} has failed because it was stalled (--on-stall=stop)", state.job.name);
}

}  // namespace

std::optional<Failure> FindExceededLimit(const JobState& state) {
  if (HasReachedBackoffLimit(state)) {
    Failure failure{false, BackoffMessage(state)};
    AddFirstFailure(state, ": ", failure);
    return failure;
  }
  const auto deadline = Deadline(state.job.run_policy, state.status);
  if (deadline && state.now >= *deadline) return Failure{false, DeadlineMessage(state)};
  if (const std::string stall = StallToEndFor(state); !stall.empty()) {
    return Failure{false, fmt::format("{}: {}", StallMessage(state), stall)};
  }
  return std::nullopt;
}

bool HasEndedByLimit(const JobState& state) {
  const api::Condition* const failed = state.status.Find(kFailed);
  return failed != nullptr && failed->status == "True" &&
         (failed->message.starts_with(BackoffMessage(state)) ||
          failed->message.starts_with(StallMessage(state)) ||
          failed->message == DeadlineMessage(state));
}

}  // namespace reconcile
