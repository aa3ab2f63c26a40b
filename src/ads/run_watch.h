// RunWatch: follows runs of a job, their states and what they print (spec/ads.md 4.5).
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ads/oci/data_science.h"
#include "ads/oci/log_search.h"
#include "base/clock.h"
#include "base/result.h"
#include "cli/terminal.h"

namespace ads {

// What a run is in its cluster: "main", "worker_0", "ps_0"; its name where it is in none.
std::string RoleOf(const oci::JobRun& run);

// 0 when it SUCCEEDED; else the container's exit code as lifecycleDetails names it ("exit code 3"),
// 1 where they do not.
int ExitCodeOf(const oci::JobRun& run);

// The cloud, as a watch sees it.
class RunSource {
 public:
  virtual ~RunSource() = default;
  virtual base::Result<oci::JobRun> Look(const std::string& run_id) = 0;
  virtual base::Result<std::vector<oci::LogLine>> Read(const oci::JobRun& run, base::Time from,
                                                       base::Time to) = 0;
};

// One thread.
class RunWatch {
 public:
  struct Options {
    std::chrono::seconds interval{3};
    // Lines come late: how long a run's log is read after its end.
    std::chrono::seconds wait{90};
    std::function<void(base::Duration)> pause;
  };
  // Several runs have their role before every line.
  RunWatch(RunSource& source, std::vector<oci::JobRun> runs, Options options, base::Clock& clock,
           cli::Output& out);

  // Until every run has ended and its log is read. The exit code of the first that failed.
  base::Result<int> Follow();

 private:
  struct Watched {
    oci::JobRun run;
    std::string prefix;
    std::string shown_state;
    std::set<std::string> seen;
    std::optional<base::Time> asked;  // until when the log is known
    bool is_done = false;
  };
  struct Line {
    base::Time time;
    std::string text;
  };

  base::Status Step(Watched& watched, std::vector<Line>& lines);
  base::Status ReadLog(Watched& watched, std::vector<Line>& lines);
  bool HasDrained(const Watched& watched);
  std::string StateLine(const Watched& watched);

  RunSource& source_;
  const Options options_;
  base::Clock& clock_;
  cli::Output& out_;
  std::vector<Watched> watched_;
  int failed_reads_ = 0;
};

}  // namespace ads
