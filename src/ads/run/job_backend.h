// `run -b job`: one job of OCI Data Science and its runs (compat/opctl.md 3.2, 4.2, 5.6).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ads/app.h"
#include "ads/config/job_spec.h"
#include "ads/config/opctl_config.h"
#include "ads/interrupts.h"
#include "ads/oci/data_science.h"
#include "ads/run/backend.h"
#include "base/result.h"
#include "cli/terminal.h"

namespace ads {

// Creates the job and its runs one after another. Where a run cannot be created, or Ctrl-C comes,
// the created ones are cancelled: nothing is left that costs money.
std::unique_ptr<Backend> MakeJobBackend(const Context& context);

// A job that was created, and its runs in the order of the specification's.
struct StartedRuns {
  std::string job_id;
  std::vector<oci::JobRun> runs;
};
// Creates them, all or none: see RunStarter. An error says what is not known to be gone.
base::Result<StartedRuns> StartNewJob(const Context& context, oci::DataScience& jobs,
                                      const JobSpec& job, const Placement& placement,
                                      Interrupts& interrupts, cli::Output& err);

// `run --ocid`: new runs of a job that is there. Of a distributed one (OCI__CLUSTER_TYPE) main,
// workers and parameter servers, with the names and environment of its last runs.
base::Result<int> RunExistingJob(const Context& context, const ExistingJobRequest& request,
                                 cli::Output& out, cli::Output& err);

}  // namespace ads
