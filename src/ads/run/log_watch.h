// RunWatch: follows runs of a job, their states and their output (compat/opctl.md 4.5).
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ads/oci/data_science.h"
#include "ads/oci/log_search.h"
#include "base/clock.h"
#include "base/result.h"
#include "cli/terminal.h"

namespace ads {

// The role of a run in its cluster: "main", "worker_0", "ps_0"; its name when it is in none.
std::string RoleOf(const oci::JobRun& run);

// 0 when it SUCCEEDED; otherwise the container's exit code from lifecycleDetails ("exit code 3"),
// or 1 when they have none.
int ExitCodeOf(const oci::JobRun& run);

// The source of a watch, implemented for the cloud.
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
    // Lines arrive late: how long a run's log is read after its end.
    std::chrono::seconds wait{90};
    std::function<void(base::Duration)> pause;
    // How long an unavailable service is retried; the runs do not depend on the watch. The log of a
    // run that has ended is not waited for if `wait` is 0, or if the run ended before it.
    std::chrono::seconds patience{600};
  };
  // With several runs, each line is preceded by its run's role. Everything else goes to `err`.
  RunWatch(RunSource& source, std::vector<oci::JobRun> runs, Options options, base::Clock& clock,
           cli::Output& out, cli::Output& err);

  // Follows until every run has ended and its log is read. Returns the exit code of the first that
  // failed.
  base::Result<int> Follow();

 private:
  struct Watched {
    oci::JobRun run;
    std::string prefix;
    std::string shown_status;
    std::set<std::string> seen;
    std::optional<base::Time> asked;  // how far the log has been read
    bool was_alive = false;           // while it was watched
    bool is_done = false;
  };
  struct Line {
    base::Time time;
    std::string text;
  };

  // Since when a service has not answered; nullopt while it does.
  using Silence = std::optional<std::chrono::steady_clock::time_point>;

  base::Status Step(Watched& watched, std::vector<Line>& lines);
  base::Status ReadLog(Watched& watched, std::vector<Line>& lines);
  base::Status Bear(Silence& silence, const base::Error& error, std::string_view what);
  void End(Silence& silence, std::string_view what);
  bool HasDrained(const Watched& watched);
  std::string StatusLine(const Watched& watched);

  RunSource& source_;
  const Options options_;
  base::Clock& clock_;
  cli::Output& out_;
  cli::Output& err_;
  std::vector<Watched> watched_;
  int failed_reads_ = 0;
  bool is_log_lost_ = false;
  Silence runs_silence_, log_silence_;
};

// Follows the runs. After an error, and after Ctrl-C, which ends the program with 130, says that
// the runs continue, and how to watch and end them.
base::Result<int> FollowWithHint(RunWatch& watch, const std::string& program,
                                 const std::string& ocid);

}  // namespace ads
