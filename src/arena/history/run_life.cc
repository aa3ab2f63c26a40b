#include "arena/history/run_life.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/object.h"
#include "arena/jobs/progress.h"
#include "arena/logs/log_lines.h"
#include "arena/logs/rank_lines.h"
#include "runs/ledger/read_life.h"
#include "runs/progress/tracker.h"

namespace arena {
namespace {

constexpr size_t kMostAttemptLogBytes = 64 << 20;
constexpr runs::Millis kSameMoment = 2000;

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

runs::Bucket BucketOfCheckpoint(bool is_load) {
  return is_load ? runs::Bucket::kRestore : runs::Bucket::kCheckpointSave;
}

bool IsOfCheckpoint(const runs::Span& span) {
  return span.bucket == runs::Bucket::kRestore || span.bucket == runs::Bucket::kCheckpointSave;
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
      life.spans.push_back({span.begin, span.end, BucketOfCheckpoint(span.is_load), false,
                            fmt::format("lines in the log of {}", instance)});
    }
  };
  for (const text::Json& pod : run.past_pods) add(pod, true);
  if (!run.deleted) {
    for (const text::Json& pod : run.job.pods) add(pod, false);
  }
  life.step_source = fmt::format("steps in the log of {}", instance);
}

int64_t NumberAt(const text::Array& values, size_t at) {
  return at < values.size() && values[at].is_int64() ? values[at].as_int64() : -1;
}

// What the daemon has kept, a step a second, instead of what logs tell: where no log is left, or
// those of earlier starts of a container are gone.
void UseWhatWasKept(const text::Json& kept, runs::Life& life) {
  const text::Array* steps = text::FindArray(kept, {"steps", "points"});
  if (steps == nullptr || steps->empty()) return;
  std::vector<runs::StepMark> marks;
  for (const text::Json& point : *steps) {
    const text::Array* values = point.if_array();  // time, step, epoch
    if (values == nullptr || values->size() < 3) continue;
    marks.push_back({NumberAt(*values, 0), NumberAt(*values, 1), NumberAt(*values, 2)});
  }
  if (marks.empty()) return;
  if (!life.steps.empty() && marks.front().at + kSameMoment >= life.steps.front().at) return;
  life.steps = std::move(marks);
  life.step_source = fmt::format("kept steps, {}", text::GetString(kept, {"steps", "source"}));
  const text::Array* checkpoints = text::FindArray(kept, {"checkpoints"});
  if (checkpoints == nullptr) return;
  life.spans.erase(std::remove_if(life.spans.begin(), life.spans.end(), IsOfCheckpoint),
                   life.spans.end());
  for (const text::Json& checkpoint : *checkpoints) {
    const text::Array* values = checkpoint.if_array();  // from, to, "save" or "load"
    if (values == nullptr || values->size() < 3 || !(*values)[2].is_string()) continue;
    life.spans.push_back({NumberAt(*values, 0), NumberAt(*values, 1),
                          BucketOfCheckpoint((*values)[2].as_string() == "load"), false,
                          "kept lines of the log"});
  }
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
  UseWhatWasKept(ProgressJson(client, context, api::Uid(run.job.job), 1), life);
  return life;
}

}  // namespace arena
