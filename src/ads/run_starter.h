// RunStarter: creates the runs of a job, all of them or none.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ads/oci/data_science.h"
#include "base/result.h"
#include "cli/terminal.h"
#include "text/json.h"

namespace ads {

// One job, one thread. While it lives Ctrl-C does not end the process: Start sees it.
class RunStarter {
 public:
  // `before`: the runs that the job has had already; they are nobody's business here.
  RunStarter(oci::DataScience& jobs, std::string job_id, std::string compartment_id,
             std::vector<oci::JobRun> before, cli::Output& err);
  ~RunStarter();
  RunStarter(const RunStarter&) = delete;
  RunStarter& operator=(const RunStarter&) = delete;

  // Posts the bodies in order, serially. On failure every run that was created is cancelled, and
  // the error says so; also one whose answer was lost.
  base::Result<std::vector<oci::JobRun>> Start(const std::vector<text::Json>& bodies);

  // How many were created.
  size_t count() const { return created_.size(); }

 private:
  base::Error RollBack(base::Error why);

  oci::DataScience& jobs_;
  const std::string job_id_;
  const std::string compartment_id_;
  const std::vector<oci::JobRun> before_;
  cli::Output& err_;
  std::vector<oci::JobRun> created_;
  void (*old_interrupt_)(int);
  void (*old_terminate_)(int);
};

}  // namespace ads
