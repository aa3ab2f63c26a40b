// Merges the logs of all of a job's instances (logs --all): in time order, each line with a prefix.
#pragma once

#include <atomic>
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
  cluster::LogOptions options{};  // for each instance; timestamps: prints them
  bool has_colours = false;       // colours the prefixes
  bool is_gone = false;           // the job was deleted: reads the logs of its former pods
  bool is_raw = true;             // each line after its instance's name; else folded (LogFold)
  LineChoice choice{};            // which lines to print
  bool only_errors = false;       // only the lines around the first error of each rank
  bool has_reports = true;        // false: leaves out what launchers report about a failed rank
  std::stop_token stop{};         // ends the wait for more
  const std::atomic<bool>* is_ending = nullptr;  // as FollowRequest's
};

// The container whose log to read now: `wanted`; else, while the instance is initialised, the init
// container that started last; else that of its training (ContainerOfLog). kInvalidArgument, with
// the reason, before any has started.
base::Result<std::string> ContainerToRead(const TrainingJob& job, const std::string& instance,
                                          const std::string& wanted);

// Prints the existing lines; only_errors holds. Names instances without a log on stderr; an error
// if none has one. kCancelled once it is stopped.
base::Status PrintAllLogs(cluster::Client& client, const AllLogsRequest& request, cli::Output& out);

// The same, and follows, also instances that start later or again. Prints a line at most
// LogMerge::kWindow after it came. Returns once the job and its instances have ended (or will not,
// by its cleanPodPolicy), the job is gone, or it is stopped; kUnavailable if the server stays away.
base::Status FollowAllLogs(cluster::Client& client, const Context& context,
                           const AllLogsRequest& request, cli::Output& out);

// Processes the lines of all instances: selects, then folds them or puts "[pt-master-0] " before
// each, in colours that are assigned in the order of the instances.
class MergedLines {
 public:
  using Moment = LogFold::Moment;

  explicit MergedLines(const AllLogsRequest& request);

  // Assigns the next colour to the instance.
  void Introduce(const std::string& instance) { PrefixOf(instance); }
  // In the order of the lines' times.
  void Add(const std::string& instance, TimedLine line, Moment arrival);
  // The current progress bars: unfinished lines, by instance, and those that a launcher reports.
  // Equal ones of several ranks are shown once: "[0-3] 40%|####".
  std::vector<std::string> Bars(const std::map<std::string, std::string>& open) const;
  // What to print at `now`; nullopt for everything.
  std::string Take(std::optional<Moment> now);
  // When Take will return something; nullopt while nothing is held.
  std::optional<Moment> NextAt() const { return fold_ ? fold_->NextAt() : std::nullopt; }

 private:
  const std::string& PrefixOf(const std::string& instance);

  const LineChoice choice_;
  const bool has_stamps_, has_colours_, has_reports_;
  const RankMap map_;
  std::optional<LogFold> fold_;  // nullopt: raw
  std::string ready_;
  std::map<std::string, std::string> prefixes_;
  std::map<int, std::string> bars_;                // of a launcher's ranks, by rank
  std::map<std::string, LauncherReport> reports_;  // by instance
};

}  // namespace arena
