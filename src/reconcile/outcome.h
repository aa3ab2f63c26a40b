// Whether the job runs, has succeeded or has failed, judged by its pods alone (compat/pytorchjob.md
// 2.5).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "reconcile/job_state.h"

namespace reconcile {

// The counts of replicaStatuses for one type. Pods beyond the number of replicas and pods left over
// from an earlier run (children.h) are not counted.
struct Tally {
  int32_t active = 0;     // Running
  int32_t succeeded = 0;  // Succeeded
  int32_t failed = 0;     // Failed, running but being deleted, or disrupted
};
Tally Count(const Replicas& replicas);

// Whether its program completed; false when it was told to stop before that.
bool HasSucceeded(const Pod& pod);

// With a master, whether the master has succeeded; without, whether all workers have, or any worker
// of an elastic job.
bool HasSucceeded(const JobState& state);
// With a master, whether it runs; without, whether any worker does.
bool IsRunning(const JobState& state);

struct Failure {
  bool is_warning = false;
  std::string message;
  // From the log of the pod that failed first, which is lost when the pod is deleted. Not part of
  // the event.
  std::string last_lines = {};
};
// A failure that the restart policies do not repair: any failed pod under Never, or a permanent
// exit code under ExitCode, unless it was caused by a pod with which it will be restarted. Under
// Never a running pod that somebody deletes counts as failed, as in v1, but not a left-over one.
std::optional<Failure> FindFailure(const JobState& state);

// Appends to the message: `before`, which pod failed first and how, as in "rank 1 (j-worker-0)
// exited with code 3: ValueError: x", and that pod's last lines. Does nothing when the pods do not
// show it or show only an exit code, which v1 leaves out too, or when the options do not ask for
// it.
void AddFirstFailure(const JobState& state, std::string_view before, Failure& failure);

// Each writes its part of the outcome into the status.
void RecordCounts(JobState& state);
void RecordRunning(JobState& state);
void RecordSuccess(JobState& state);
void RecordFailure(JobState& state, Failure failure);

}  // namespace reconcile
