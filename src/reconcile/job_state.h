// The state of one job while Reconcile() runs: what the policies read, and the status and plan that
// they change. Lives on the stack of Reconcile(); every policy is a function of it.
#pragma once

#include <array>

#include "api/job/pytorch_job.h"
#include "base/clock.h"
#include "reconcile/children.h"
#include "reconcile/reconcile.h"

namespace reconcile {

struct JobState {
  JobState(const Observed& seen, const Options& chosen, base::Time called_at,
           api::PyTorchJob parsed)
      : observed(seen),
        options(chosen),
        now(called_at),
        stamp(std::chrono::floor<std::chrono::seconds>(called_at)),
        job(std::move(parsed)),
        children(ReadChildren(seen, job, called_at)),
        status(job.status) {}
  JobState(const JobState&) = delete;
  JobState& operator=(const JobState&) = delete;

  // Master first: its outcome decides for the other types.
  std::array<const Replicas*, 2> Types() const { return {&children.master, &children.worker}; }
  bool HasMaster() const { return children.master.spec != nullptr; }

  const Observed& observed;
  const Options& options;
  const base::Time now;
  const base::Time stamp;     // `now` in whole seconds, as the API stores times
  const api::PyTorchJob job;  // with defaults; job.status is the stored status
  const Children children;
  api::JobStatus status;  // the next status
  Plan plan;
};

}  // namespace reconcile
