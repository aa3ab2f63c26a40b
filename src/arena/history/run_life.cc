#include "arena/history/run_life.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "api/object.h"
#include "api/pod.h"
#include "api/rank_label.h"
#include "arena/folder/run_note.h"
#include "arena/history/trials.h"
#include "arena/jobs/progress.h"
#include "arena/logs/log_lines.h"
#include "arena/logs/pod_log.h"
#include "arena/logs/rank_lines.h"
#include "runs/ledger/read_life.h"
#include "runs/progress/history.h"
#include "runs/progress/tracker.h"
#include "runs/progress/wait_span.h"

namespace arena {
namespace {

constexpr size_t kMostAttemptLogBytes = 64 << 20;

// Passes the whole lines of a stream with timestamps to a tracker, but only those of the first rank
// that prints.
class LogReader {
 public:
  explicit LogReader(runs::Tracker& tracker) : tracker_(tracker) {}

  void Feed(std::string_view bytes) {
    rest_ += bytes;
    const size_t end = rest_.rfind('\n');
    if (end == std::string::npos) return;
    for (const TimedLine& line : SplitTimedLines(rest_.substr(0, end + 1), last_time_)) Track(line);
    rest_.erase(0, end + 1);
  }

 private:
  void Track(const TimedLine& line) {
    const auto time = base::ParseRfc3339(line.time + "Z");
    if (!time) return;
    const auto label = api::ReadRankLabel(line.text);
    if (label && rank_.empty()) rank_ = label->name;
    // If lines have rank labels, lines without one come from the launcher.
    if ((label ? label->name : std::string_view()) != rank_) return;
    tracker_.See(runs::ToMillis(*time), label ? label->text : line.text);
  }

  runs::Tracker& tracker_;
  std::string rest_, last_time_;
  std::string rank_;  // as the label names it
};

runs::Tracker TrackLog(cluster::Client& client, const text::Json& pod, bool is_gone,
                       bool previous) {
  runs::Tracker tracker;
  cluster::LogOptions options;
  options.timestamps = true;
  options.previous = previous;
  options.limit_bytes = static_cast<int64_t>(kMostAttemptLogBytes);
  if (is_gone) options.pod_uid = api::Uid(pod);
  LogReader reader(tracker);
  // An attempt without a log has no steps.
  (void)ReadPodLog(client, pod, options, kMostAttemptLogBytes,
                   [&reader](std::string_view bytes) { reader.Feed(bytes); });
  return tracker;
}

bool WasStartedAgain(const text::Json& pod) {
  const auto training = api::StatusOfTraining(pod);
  return training && training->restart_count > 0;
}

runs::Bucket BucketOfCheckpoint(bool is_load) {
  return is_load ? runs::Bucket::kRestore : runs::Bucket::kCheckpointSave;
}

// Adds what the logs of one instance contain, and the times that they cover, to `life`.
class InstanceLogs {
 public:
  InstanceLogs(cluster::Client& client, const RunRecord& run, std::string instance)
      : client_(client), run_(run), instance_(std::move(instance)) {}

  void AddTo(runs::Life& life) {
    for (const PodOfRun& of : PodsOf(run_)) AddPod(*of.pod, of.is_gone, life);
    life.step_source = fmt::format("steps in the log of {}", instance_);
  }

  // The name of this log as a source in what the daemon keeps.
  std::string kept_source() const { return runs::SourceOfLog(instance_); }
  bool Covers(runs::Millis at) const {
    return std::any_of(covered_.begin(), covered_.end(),
                       [at](const auto& span) { return span.first <= at && at <= span.second; });
  }

 private:
  // Also reads the log before the last start of the program; older ones are not kept.
  void AddPod(const text::Json& pod, bool is_gone, runs::Life& life) {
    if (api::Name(pod) != instance_) return;
    if (WasStartedAgain(pod)) AddLog(TrackLog(client_, pod, is_gone, true), life);
    AddLog(TrackLog(client_, pod, is_gone, false), life);
  }

  void AddLog(const runs::Tracker& tracker, runs::Life& life) {
    if (!tracker.first_line()) return;
    life.lines.push_back(*tracker.first_line());
    for (const runs::CheckpointSpan& span : tracker.checkpoints()) {
      life.spans.push_back({span.begin, span.end, BucketOfCheckpoint(span.is_load), false,
                            fmt::format("lines in the log of {}", instance_)});
    }
    const std::vector<runs::StepMark>& steps = tracker.steps();
    if (steps.empty()) return;
    life.steps.insert(life.steps.end(), steps.begin(), steps.end());
    covered_.emplace_back(steps.front().at, steps.back().at);
  }

  cluster::Client& client_;
  const RunRecord& run_;
  const std::string instance_;
  std::vector<std::pair<runs::Millis, runs::Millis>> covered_;
};

int64_t NumberAt(const text::Array& values, size_t at) {
  return at < values.size() && values[at].is_int64() ? values[at].as_int64() : -1;
}

std::vector<runs::StepMark> KeptSteps(const text::Json& kept) {
  std::vector<runs::StepMark> marks;
  const text::Array* steps = text::FindArray(kept, {"steps", "points"});
  for (size_t i = 0; steps != nullptr && i < steps->size(); ++i) {
    const text::Array* values = (*steps)[i].if_array();  // time, step, epoch
    if (values == nullptr || values->size() < 3) continue;
    marks.push_back({NumberAt(*values, 0), NumberAt(*values, 1), NumberAt(*values, 2)});
  }
  return marks;
}

// Adds what the daemon has kept for times without a log: from deleted runs, and from earlier starts
// of a container. A source other than the log counts its steps in its own way.
void AddWhatWasKept(const text::Json& kept, const InstanceLogs& logs, runs::Life& life) {
  const std::string_view source = text::GetString(kept, {"steps", "source"});
  if (!life.steps.empty() && source != logs.kept_source()) return;
  const bool has_logs = !life.steps.empty();
  bool is_used = false;
  for (const runs::StepMark& mark : KeptSteps(kept)) {
    if (logs.Covers(mark.at)) continue;
    life.steps.push_back(mark);
    is_used = true;
  }
  if (!is_used) return;
  life.step_source = has_logs ? fmt::format("{}, and kept ones", life.step_source)
                              : fmt::format("kept steps, {}", source);
  const text::Array* checkpoints = text::FindArray(kept, {"checkpoints"});
  for (size_t i = 0; checkpoints != nullptr && i < checkpoints->size(); ++i) {
    const text::Array* values = (*checkpoints)[i].if_array();  // from, to, "save" or "load"
    if (values == nullptr || values->size() < 3 || !(*values)[2].is_string()) continue;
    if (logs.Covers(NumberAt(*values, 0))) continue;
    life.spans.push_back({NumberAt(*values, 0), NumberAt(*values, 1),
                          BucketOfCheckpoint((*values)[2].as_string() == "load"), false,
                          "kept lines of the log"});
  }
}

std::vector<runs::WaitSpan> KeptWaits(const text::Json& kept) {
  std::vector<runs::WaitSpan> found;
  const text::Array* waits = text::FindArray(kept, {"waits"});
  for (size_t i = 0; waits != nullptr && i < waits->size(); ++i) {
    const text::Array* values = (*waits)[i].if_array();  // from, to, what for, source
    if (values == nullptr || values->size() < 4 || !(*values)[2].is_string()) continue;
    const auto bucket = runs::BucketOfWait(std::string_view((*values)[2].as_string()));
    const auto source = runs::WaitSourceOf(std::string_view((*values)[3].as_string()));
    if (!bucket || !source) continue;
    found.push_back({NumberAt(*values, 0), NumberAt(*values, 1), *bucket, *source});
  }
  return found;
}

const char* SourceOfWait(runs::WaitSpan::Source source) {
  switch (source) {
    case runs::WaitSpan::Source::kRanks:
      return "init_process_group in the ranks";
    case runs::WaitSpan::Source::kLaunchers:
      return "rendezvous of the launchers";
    case runs::WaitSpan::Source::kLooks:
      break;
  }
  return "looks at the ranks' stacks";
}

// Adds the waits that ranks and launchers have measured; where there are none, those found by
// sampling the ranks' stacks. For checkpoints, log lines are the better source.
void AddWaits(const text::Json& kept, runs::Life& life) {
  const auto has = [&life](runs::Bucket bucket) {
    return std::any_of(life.spans.begin(), life.spans.end(),
                       [bucket](const runs::Span& span) { return span.bucket == bucket; });
  };
  const bool has_saves = has(runs::Bucket::kCheckpointSave),
             has_loads = has(runs::Bucket::kRestore);
  const std::vector<runs::WaitSpan> waits = KeptWaits(kept);
  const auto is_measured = [](const runs::WaitSpan& wait) {
    return wait.source != runs::WaitSpan::Source::kLooks;
  };
  const auto is_better_known = [&](const runs::WaitSpan& look) {
    return std::any_of(waits.begin(), waits.end(), [&](const runs::WaitSpan& wait) {
      return is_measured(wait) && wait.bucket == look.bucket && wait.begin < look.end &&
             look.begin < wait.end;
    });
  };
  for (const runs::WaitSpan& wait : waits) {
    if (wait.bucket == runs::Bucket::kCheckpointSave && has_saves) continue;
    if (wait.bucket == runs::Bucket::kRestore && has_loads) continue;
    if (!is_measured(wait) && is_better_known(wait)) continue;
    life.spans.push_back(
        {wait.begin, wait.end, wait.bucket, is_measured(wait), SourceOfWait(wait.source)});
  }
}

// A sweep's unit of work is the trial, because the step numbers in its log come from many trials.
void AddTrials(const std::vector<TrialRow>& rows, runs::Life& life) {
  for (const TrialRow& row : rows) {
    if (!row.result) continue;
    const runs::Bucket bucket =
        row.result->exit_code == 0 ? runs::Bucket::kSteps : runs::Bucket::kLostProgress;
    life.spans.push_back(
        {row.result->started, row.result->ended, bucket, true, "results of the trials"});
  }
}

}  // namespace

runs::Life ReadLife(cluster::Client& client, const Context& context, const RunRecord& run) {
  std::vector<runs::PodRecord> pods;
  for (const PodOfRun& of : PodsOf(run)) pods.push_back({of.pod, of.deleted});
  runs::Life life = runs::LifeOf(run.job.job, pods, run.deleted, context.clock.Now());
  const RankMap map = RankMap::Of(run.job.job);
  if (map.instances.empty()) return life;
  if (const std::string folder = RunFolderOf(run.job.job, context.environment);
      HasTrials(run, folder)) {
    if (const auto rows = TrialsOf(client, run, folder)) AddTrials(*rows, life);
    runs::RefineEnd(life);
    return life;
  }
  std::optional<InstanceLogs> logs;
  logs.emplace(client, run, map.instances.front()).AddTo(life);
  if (life.steps.empty() && map.instances.size() > 1) {
    logs.emplace(client, run, map.instances.back()).AddTo(life);
  }
  const text::Json kept = ProgressJson(client, context, run.job.job, 1, Times::kGiven);
  AddWhatWasKept(kept, *logs, life);
  runs::RefineEnd(life);
  AddWaits(kept, life);
  return life;
}

}  // namespace arena
