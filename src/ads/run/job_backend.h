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

// Signed in. Creates the job and its runs one after another. If a run cannot be created, or after
// Ctrl-C, cancels the created ones, so that nothing is left that costs money.
base::Result<std::unique_ptr<Backend>> MakeJobBackend(const Context& context,
                                                      const LoginFlags& login);

// A created job and its runs, in the order of the specification.
struct StartedRuns {
  std::string job_id;
  std::vector<oci::JobRun> runs;
};
// Creates all or none of them: see RunStarter. The error lists what may still exist.
base::Result<StartedRuns> StartNewJob(const Context& context, oci::DataScience& jobs,
                                      const JobSpec& job, const Placement& placement,
                                      Interrupts& interrupts, cli::Output& err);

// `run --ocid`: starts new runs of an existing job. For a distributed one (OCI__CLUSTER_TYPE):
// main, workers and parameter servers, with the names and environment of its last runs.
base::Result<int> RunExistingJob(const Context& context, const ExistingJobRequest& request,
                                 cli::Output& out, cli::Output& err);

}  // namespace ads
