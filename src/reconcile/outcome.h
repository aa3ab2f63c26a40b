// Whether the job runs, has succeeded or has failed, judged by its pods alone
// (compat/pytorchjob.md 2.5).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "reconcile/job_state.h"

namespace reconcile {

// What replicaStatuses says of a type. Pods beyond the number of replicas are not counted, nor
// are those left over from an earlier run (children.h).
struct Tally {
  int32_t active = 0;     // Running
  int32_t succeeded = 0;  // Succeeded
  int32_t failed = 0;     // Failed, Running ones that are being deleted, disrupted ones
};
Tally Count(const Replicas& replicas);

// Whether its program came to its end: not when it was told to go before.
bool HasSucceeded(const Pod& pod);

// With a master it alone decides; without, all workers, or any worker of an elastic job.
bool HasSucceeded(const JobState& state);
// With a master: it runs. Without: any worker does.
bool IsRunning(const JobState& state);

struct Failure {
  bool is_warning = false;
  std::string message;
  // Of the log of the pod that failed first: with the pod, the log goes. Not in the event.
  std::string last_lines = {};
};
// A failure that the restart policies do not heal: any pod under Never, a permanent exit code under
// ExitCode, unless it follows from one that is to be restarted with it. Under Never a running pod
// that somebody deletes counts, as it does in v1; one that is left over does not.
std::optional<Failure> FindFailure(const JobState& state);

// Adds to the message `before` and the pod that failed first, and how: "rank 1 (j-worker-0) exited
// with code 3", and that pod's last lines. Nothing when the pods do not tell, and unless the
// options ask for it.
void AddFirstFailure(const JobState& state, std::string_view before, Failure& failure);

// The steps that write these into the status.
void RecordCounts(JobState& state);
void RecordRunning(JobState& state);
void RecordSuccess(JobState& state);
void RecordFailure(JobState& state, Failure failure);

}  // namespace reconcile
