// The logs of all of a job's instances as one (logs --all), a prefix to each line, in time order.
#pragma once

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "arena/app/app.h"
#include "arena/jobs/jobs.h"
#include "arena/logs/launcher_report.h"
#include "arena/logs/log_fold.h"
#include "arena/logs/log_lines.h"
#include "arena/logs/rank_lines.h"
#include "cluster/client.h"

namespace arena {

struct AllLogsRequest {
  const TrainingJob& job;
  cluster::LogOptions options{};  // of each instance; timestamps: they are printed
  bool has_colours = false;       // of the prefixes
  bool is_gone = false;           // the job was deleted: logs of the pods that it had
  bool is_raw = true;             // each line behind its instance's name; else folded (LogFold)
  LineChoice choice{};            // of the lines
  bool only_errors = false;       // what is around the first error of each rank
  bool has_reports = true;        // without: not what launchers report of a failed rank
  std::stop_token stop{};         // who waits for them waits no longer
};

// The container whose log an instance has now: `wanted`, else the last init container's that has
// begun while the instance is initialised, else its own ("" is that). kInvalidArgument, saying why,
// before there is any.
base::Result<std::string> ContainerToRead(const TrainingJob& job, const std::string& instance,
                                          const std::string& wanted);

// What there is of them, only_errors too. Instances without a log are named on stderr; an error
// when none has any. kCancelled once it is stopped.
base::Status PrintAllLogs(cluster::Client& client, const AllLogsRequest& request, cli::Output& out);

// The same, and goes on: instances that come, and come again, join in. A line is printed at most
// LogMerge::kWindow after it came. Returns when the job has ended and so have its instances (or
// will not, by its cleanPodPolicy), or is gone, or it is stopped; kUnavailable when the server
// stays away.
base::Status FollowAllLogs(cluster::Client& client, const Context& context,
                           const AllLogsRequest& request, cli::Output& out);

// The lines of all instances on their way to the output: chosen, then folded, or each behind
// "[pt-master-0] ", with colours that are given out in the order of the instances.
class MergedLines {
 public:
  using Moment = LogFold::Moment;

  explicit MergedLines(const AllLogsRequest& request);

  // The instance is to have the next colour.
  void Introduce(const std::string& instance) { PrefixOf(instance); }
  // In the order of the lines' times.
  void Add(const std::string& instance, TimedLine line, Moment arrival);
  // The progress bars of now: lines without an end, by instance, and those that a launcher tells
  // of. What several ranks show alike is one: "[0-3] 40%|####".
  std::vector<std::string> Bars(const std::map<std::string, std::string>& open) const;
  // What is to be printed at `now`; nullopt: all that there is.
  std::string Take(std::optional<Moment> now);
  // When Take will have something; nullopt while nothing is held.
  std::optional<Moment> NextAt() const { return fold_ ? fold_->NextAt() : std::nullopt; }

 private:
  const std::string& PrefixOf(const std::string& instance);

  const LineChoice choice_;
  const bool has_stamps_, has_colours_, has_reports_;
  const RankMap map_;
  std::optional<LogFold> fold_;  // nullopt: raw
  std::string ready_;
  std::map<std::string, std::string> prefixes_;
  std::map<int, std::string> bars_;  // by rank; of ranks below a launcher
  std::map<std::string, LauncherReport> reports_;  // by instance
};

}  // namespace arena
