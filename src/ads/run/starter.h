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
  std::vector<oci::JobRun> before = {};  // the runs that it had already, which are left alone
};

// The environment of a start; all of it must outlive the starter.
struct StartSurroundings {
  base::Clock& clock;
  std::function<void(base::Duration)> pause;  // blocks; an interrupt ends it early
  Interrupts& interrupts;
  std::string program;  // "ads" or "muster", for messages
  cli::Output& err;
};

// One start, one thread.
class RunStarter {
 public:
  RunStarter(oci::DataScience jobs, StartedJob job, StartSurroundings around);
  RunStarter(const RunStarter&) = delete;
  RunStarter& operator=(const RunStarter&) = delete;

  // Posts the bodies in order, one by one. On failure, and when interrupted (kCancelled), undoes
  // what was created: cancels runs, including one whose answer was lost, until each has ended or
  // kRollBackLimit has passed; deletes a new job that then has no runs. The error says what became
  // of them, and how to end runs that remain. Another interrupt ends the waiting.
  base::Result<std::vector<oci::JobRun>> Start(const std::vector<text::Json>& bodies);

  static constexpr std::chrono::minutes kRollBackLimit{5};
  // How long to look for a run whose answer was lost: the service may still create it.
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
  oci::DataScience once_;  // for undoing, which retries by itself
  const StartedJob job_;
  const StartSurroundings around_;
  RunEnding ending_;
  std::set<std::string> names_;  // of the requested runs
  std::vector<oci::JobRun> created_;
  // For undoing.
  std::vector<EndingRun> ends_;
  std::string lost_;        // name of a run that may have been created, until it is found
  std::string list_error_;  // why the job's runs could not be listed; "" once they were
};

}  // namespace ads
