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

// A run that is to end.
struct EndingRun {
  std::string id;
  std::string state;        // as it was seen last; "" when it never was
  bool is_refused = false;  // the service will not end it, however often it is asked
  std::string why = {};     // what failed about it last
  bool IsOver() const { return oci::IsTerminal(state); }
};

// One thread; borrows all that it is made of.
class RunEnding {
 public:
  RunEnding(oci::DataScience& jobs, base::Clock& clock, std::function<void(base::Duration)> pause)
      : jobs_(jobs), clock_(clock), pause_(std::move(pause)) {}

  // Every run of the job, oldest first.
  base::Result<std::vector<oci::JobRun>> RunsOf(const std::string& job_id);
  // A run that has ended meanwhile is not an error.
  base::Status Cancel(const std::string& run_id);
  // A step of a run's way to its end: asks for it, unless that is under way, and looks at the run.
  void Urge(EndingRun& run);
  // Until the run has ended, however: its last state. kTimeout.
  base::Result<oci::JobRun> AwaitEnd(const std::string& run_id, const EndWait& wait);
  // Deletes a run; one that runs is cancelled first.
  base::Status Delete(const oci::JobRun& run);

 private:
  oci::DataScience& jobs_;
  base::Clock& clock_;
  const std::function<void(base::Duration)> pause_;
};

}  // namespace ads
