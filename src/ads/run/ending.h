// Ending and deleting runs of jobs (compat/opctl.md 1.1, 1.3).
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "ads/oci/data_science.h"
#include "base/clock.h"
#include "base/result.h"

namespace ads {

struct EndWait {
  std::chrono::seconds interval{10};
  std::chrono::seconds limit{1200};
};

// A run that has to end.
struct EndingRun {
  std::string id;
  std::string state;        // as last seen; "": never seen
  bool is_refused = false;  // the service refuses to end it, however often it is asked
  std::string why = {};     // the latest failure
  bool IsOver() const { return oci::IsTerminal(state); }
};

// One thread; borrows its constructor's arguments.
class RunEnding {
 public:
  RunEnding(oci::DataScience& jobs, base::Clock& clock, std::function<void(base::Duration)> pause)
      : jobs_(jobs), clock_(clock), pause_(std::move(pause)) {}

  // Every run of the job, oldest first.
  base::Result<std::vector<oci::JobRun>> RunsOf(const std::string& job_id);
  // OK when the run has ended meanwhile.
  base::Status Cancel(const std::string& run_id);
  // One step towards the run's end: requests it unless that was done already, then looks at the
  // run.
  void Urge(EndingRun& run);
  // Waits until the run has ended in any way; returns its last state. kTimeout.
  base::Result<oci::JobRun> AwaitEnd(const std::string& run_id, const EndWait& wait);
  // Deletes a run, after cancelling it if it is running.
  base::Status Delete(const oci::JobRun& run);

 private:
  oci::DataScience& jobs_;
  base::Clock& clock_;
  const std::function<void(base::Duration)> pause_;
};

}  // namespace ads
