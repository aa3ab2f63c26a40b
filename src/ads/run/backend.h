// Backend: where `run` runs a job.
#pragma once

#include <string>

#include "ads/config/job_spec.h"
#include "ads/config/opctl_config.h"
#include "ads/config/train_config.h"
#include "base/result.h"
#include "cli/terminal.h"

namespace ads {

// One `run`. The configuration has been checked, the image built and pushed.
struct RunRequest {
  const TrainConfig& config;
  const JobSpec& job;
  const LoginFlags& login;
  std::string job_info;  // --job-info: a file that can be written; "" is nowhere
  std::string code_dir;  // the source folder on this machine, absolute: what the image has as /code
};

// `run --ocid`.
struct ExistingJobRequest {
  std::string job_ocid;
  LoginFlags login;
  std::string job_info;  // as RunRequest's
};

// One of them runs a request; made for it, and for one thread.
class Backend {
 public:
  virtual ~Backend() = default;
  // The exit code. Prints what the user asked for to `out`, all else to `err`. Leaves nothing
  // behind that it could not start whole.
  virtual base::Result<int> Run(const RunRequest& request, cli::Output& out, cli::Output& err) = 0;
};

}  // namespace ads
