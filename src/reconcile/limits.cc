#include "reconcile/limits.h"

#include <fmt/format.h>

#include "reconcile/backoff_limit.h"
#include "reconcile/conditions.h"
#include "reconcile/deadline.h"

namespace reconcile {
namespace {

std::string BackoffMessage(const Pass& pass) {
  return fmt::format("Job {} has failed because it has reached the specified backoff limit",
                     pass.job.name);
}

std::string DeadlineMessage(const Pass& pass) {
  return fmt::format("Job {} has failed because it was active longer than specified deadline",
                     pass.job.name);
}

}  // namespace

std::optional<Failure> FindExceededLimit(const Pass& pass) {
  if (HasReachedBackoffLimit(pass)) {
    Failure failure{false, BackoffMessage(pass)};
    AddFirstFailure(pass, ": ", failure);
    return failure;
  }
  const auto deadline = Deadline(pass.job.run_policy, pass.status);
  if (deadline && pass.now >= *deadline) return Failure{false, DeadlineMessage(pass)};
  return std::nullopt;
}

bool HasEndedByLimit(const Pass& pass) {
  const api::Condition* const failed = pass.status.Find(kFailed);
  return failed != nullptr && failed->status == "True" &&
         (failed->message.starts_with(BackoffMessage(pass)) ||
          failed->message == DeadlineMessage(pass));
}

}  // namespace reconcile
