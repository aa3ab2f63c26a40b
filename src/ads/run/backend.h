// Backend: where `run` executes a job.
#pragma once

#include <string>

#include "ads/config/job_spec.h"
#include "ads/config/opctl_config.h"
#include "ads/config/train_config.h"
#include "base/result.h"
#include "cli/terminal.h"

namespace ads {

// One `run`. The configuration has been checked, and the image built and pushed.
struct RunRequest {
  const TrainConfig& config;
  const JobSpec& job;
  const LoginFlags& login;
  std::string job_info;   // --job-info: a writable file; "": none
  std::string code_dir;   // the source folder on this machine, absolute: /code in the image
  bool is_quiet = false;  // only the run's information goes to `out`
};

// `run --ocid`.
struct ExistingJobRequest {
  std::string job_ocid;
  LoginFlags login;
  std::string job_info;   // as in RunRequest
  bool is_quiet = false;  // likewise
  bool is_dry = false;    // show the runs, create none
};

// Runs one request; created for it before the image is built, and used by one thread. What creates
// one also signs in: to build an image takes long, and would be in vain without credentials.
class Backend {
 public:
  virtual ~Backend() = default;
  // Returns the exit code. Prints requested data to `out`, everything else to `err`. Leaves nothing
  // behind if it could not start everything.
  virtual base::Result<int> Run(const RunRequest& request, cli::Output& out, cli::Output& err) = 0;
};

}  // namespace ads
