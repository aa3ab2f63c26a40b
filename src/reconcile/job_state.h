// One pass over one job: what the policies read, and what they add to. Lives on the stack of
// Reconcile(); every policy is a function of it.
#pragma once

#include <array>

#include "api/job/pytorch_job.h"
#include "base/clock.h"
#include "reconcile/children.h"
#include "reconcile/reconcile.h"

namespace reconcile {

struct Pass {
  Pass(const Observed& seen, const Options& chosen, base::Time called_at, api::PyTorchJob parsed)
      : observed(seen),
        options(chosen),
        now(called_at),
        stamp(std::chrono::floor<std::chrono::seconds>(called_at)),
        job(std::move(parsed)),
        children(ReadChildren(seen, job, called_at)),
        status(job.status) {}
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  // Master first: what becomes of it decides for the others.
  std::array<const Replicas*, 2> Types() const { return {&children.master, &children.worker}; }
  bool HasMaster() const { return children.master.spec != nullptr; }

  const Observed& observed;
  const Options& options;
  const base::Time now;
  const base::Time stamp;     // `now` as it is stored, in whole seconds
  const api::PyTorchJob job;  // with defaults; job.status is what is stored
  const Children children;
  api::JobStatus status;  // the next one
  Plan plan;
};

}  // namespace reconcile
