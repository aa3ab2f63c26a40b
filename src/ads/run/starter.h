// RunStarter: creates the runs of a job, all of them or none.
#pragma once

#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ads/interrupts.h"
#include "ads/oci/data_science.h"
#include "ads/run/ending.h"
#include "base/clock.h"
#include "base/result.h"
#include "cli/terminal.h"
#include "text/json.h"

namespace ads {

// The job whose runs are to be created.
struct StartedJob {
  std::string id, compartment_id;
  bool is_new = true;                    // it was created for these runs
  std::vector<oci::JobRun> before = {};  // the runs it has had already; they are nobody's business
};

// What a start needs of its surroundings; all of it outlives the starter.
struct StartSurroundings {
  base::Clock& clock;
  std::function<void(base::Duration)> pause;  // blocks; an interrupt ends it early
  Interrupts& interrupts;
  std::string program;  // "ads" or "muster": advice names it
  cli::Output& err;
};

// One start, one thread.
class RunStarter {
 public:
  RunStarter(oci::DataScience jobs, StartedJob job, StartSurroundings around);
  RunStarter(const RunStarter&) = delete;
  RunStarter& operator=(const RunStarter&) = delete;

  // Posts the bodies in order, serially. On failure, and when it is interrupted (kCancelled), what
  // was created is undone: runs are cancelled, also one whose answer was lost, until each has ended
  // or kRollBackLimit has passed; a new job that has none is deleted. The error says what became of
  // them, and how what still runs is ended. Another interrupt ends the waiting.
  base::Result<std::vector<oci::JobRun>> Start(const std::vector<text::Json>& bodies);

  static constexpr std::chrono::minutes kRollBackLimit{5};
  // The service may still do what nobody waits for any more: how long its list is looked at.
  static constexpr std::chrono::seconds kLostLimit{30};

 private:
  base::Error RollBack(base::Error why, std::string lost);
  void FindRuns();
  void Note(const std::string& run_id, std::string state);
  bool IsUndone(base::Duration elapsed) const;
  std::string Outcome() const;
  std::string OutcomeOfEnded() const;
  std::string OutcomeOfLeft() const;
  std::string RemoveJob();

  oci::DataScience jobs_;
  oci::DataScience once_;  // of the way back, which asks again by itself
  const StartedJob job_;
  const StartSurroundings around_;
  RunEnding ending_;
  std::set<std::string> names_;  // of the runs that are asked for
  std::vector<oci::JobRun> created_;
  // Of the way back.
  std::vector<EndingRun> ends_;
  std::string lost_;        // the name of a run that may have been made, until it is found
  std::string list_error_;  // why the job's runs could not be listed; "" once they were
};

}  // namespace ads
