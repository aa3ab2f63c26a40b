#include "arena/history/run_life.h"

#include <fmt/format.h>

#include <set>

#include "api/object.h"
#include "arena/jobs/progress.h"
#include "arena/logs/log_lines.h"
#include "arena/logs/rank_lines.h"
#include "runs/ledger/read_life.h"
#include "runs/progress/tracker.h"

namespace arena {
namespace {

constexpr size_t kMostAttemptLogBytes = 64 << 20;
constexpr int64_t kMostKeptSteps = 100'000;

// Whole lines of a stream with timestamps, told to a tracker: those of the first rank that speaks.
class LogReader {
 public:
  explicit LogReader(runs::Tracker& tracker) : tracker_(tracker) {}

  void Feed(std::string_view bytes) {
    rest_ += bytes;
    const size_t end = rest_.rfind('\n');
    if (end == std::string::npos) return;
    for (const TimedLine& line : SplitTimedLines(rest_.substr(0, end + 1), last_time_)) Tell(line);
    rest_.erase(0, end + 1);
  }

 private:
  void Tell(const TimedLine& line) {
    const auto time = base::ParseRfc3339(line.time + "Z");
    if (!time) return;
    std::string_view words = line.text;
    const auto rank = TakeRank(words);
    if (rank && !rank_) rank_ = rank;
    if (rank && rank != rank_) return;
    tracker_.See(runs::ToMillis(*time), words);
  }

  runs::Tracker& tracker_;
  std::string rest_, last_time_;
  std::optional<int> rank_;
};

runs::Tracker TrackLog(cluster::Client& client, const RunRecord& run, const text::Json& pod,
                       bool is_gone) {
  runs::Tracker tracker;
  cluster::LogOptions options;
  options.timestamps = true;
  options.limit_bytes = static_cast<int64_t>(kMostAttemptLogBytes);
  if (is_gone) options.pod_uid = api::Uid(pod);
  const auto stream = client.Logs(run.job.summary.namespace_name, api::Name(pod), options);
  if (!stream) return tracker;
  LogReader reader(tracker);
  for (size_t read = 0; read < kMostAttemptLogBytes;) {
    const auto bytes = (*stream)->Read();
    if (!bytes || !*bytes) break;
    read += (*bytes)->size();
    reader.Feed(**bytes);
  }
  return tracker;
}

// What the logs of all attempts of one instance tell.
void AddLogs(cluster::Client& client, const RunRecord& run, const std::string& instance,
             runs::Life& life) {
  const auto add = [&](const text::Json& pod, bool is_gone) {
    if (api::Name(pod) != instance) return;
    const runs::Tracker tracker = TrackLog(client, run, pod, is_gone);
    life.steps.insert(life.steps.end(), tracker.steps().begin(), tracker.steps().end());
    if (tracker.first_line()) life.lines.push_back(*tracker.first_line());
    for (const runs::CheckpointSpan& span : tracker.checkpoints()) {
      life.spans.push_back({span.begin, span.end,
                            span.is_load ? runs::Bucket::kRestore : runs::Bucket::kCheckpointSave,
                            false, fmt::format("lines in the log of {}", instance)});
    }
  };
  for (const text::Json& pod : run.past_pods) add(pod, true);
  if (!run.deleted) {
    for (const text::Json& pod : run.job.pods) add(pod, false);
  }
  life.step_source = fmt::format("steps in the log of {}", instance);
}

// Where no log is left, or none tells them: the values that the daemon has kept, one a second.
void AddKeptSteps(const text::Json& progress, runs::Life& life) {
  const text::Array* series = text::FindArray(progress, {"series"});
  const text::Json* longest = nullptr;
  size_t most = 0;
  for (size_t i = 0; series != nullptr && i < series->size(); ++i) {
    const text::Array* points = text::FindArray((*series)[i], {"points"});
    if (points == nullptr || points->size() <= most) continue;
    most = points->size();
    longest = &(*series)[i];
  }
  if (longest == nullptr) return;
  for (const text::Json& point : *text::FindArray(*longest, {"points"})) {
    const text::Array* values = point.if_array();  // time, step, value
    if (values == nullptr || values->size() < 2 || !(*values)[0].is_int64() ||
        !(*values)[1].is_int64()) {
      continue;
    }
    life.steps.push_back({(*values)[0].as_int64(), (*values)[1].as_int64(), 0});
  }
  life.step_source = fmt::format("kept steps, {}", text::GetString(*longest, {"source"}));
}

}  // namespace

runs::Life ReadLife(cluster::Client& client, const Context& context, const RunRecord& run) {
  std::vector<runs::PodRecord> pods;
  for (size_t i = 0; i < run.past_pods.size(); ++i) {
    pods.push_back({&run.past_pods[i],
                    i < run.past_ends.size() ? std::optional(run.past_ends[i]) : std::nullopt});
  }
  if (!run.deleted) {
    for (const text::Json& pod : run.job.pods) pods.push_back({&pod, std::nullopt});
  }
  runs::Life life = runs::LifeOf(run.job.job, pods, run.deleted, context.clock.Now());
  const RankMap map = RankMap::Of(run.job.job);
  if (map.instances.empty()) return life;
  AddLogs(client, run, map.instances.front(), life);
  if (life.steps.empty() && map.instances.size() > 1) {
    AddLogs(client, run, map.instances.back(), life);
  }
  if (life.steps.empty()) {
    AddKeptSteps(ProgressJson(client, context, api::Uid(run.job.job), kMostKeptSteps), life);
  }
  return life;
}

}  // namespace arena
