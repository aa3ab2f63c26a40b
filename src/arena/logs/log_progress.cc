#include "arena/logs/log_progress.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "api/object.h"
#include "api/pod.h"
#include "api/rank_label.h"
#include "arena/logs/log_lines.h"
#include "arena/logs/pod_log.h"
#include "arena/logs/rank_lines.h"
#include "base/log.h"
#include "runs/progress/history.h"
#include "runs/progress/log_reading.h"

namespace arena {
namespace {

constexpr int64_t kLinesOfCurves = 20'000, kLinesOfLatest = 1000;
constexpr size_t kMostOfLog = 8 << 20;
// The time for a command that looks once: nobody wants to wait ten seconds for `get`.
constexpr std::chrono::seconds kPatienceOfOneLook{3};

// Reads the log in the same way as the embedded cluster's daemon.
runs::History HistoryOf(std::string_view log, const std::string& source) {
  runs::History history;
  runs::LogReading reading;
  std::string last;
  for (const TimedLine& line : SplitTimedLines(log, last)) {
    const auto time = base::ParseRfc3339(line.time + "Z");
    if (!time) continue;
    std::string_view text = line.text;
    text.remove_suffix(text.ends_with('\n') ? 1 : 0);
    const auto label = api::ReadRankLabel(text);
    const runs::Millis at = runs::ToMillis(*time);
    const auto found =
        label ? reading.See(at, label->name, label->text) : reading.See(at, "", text);
    if (found.progress) history.Note(source, at, *found.progress, std::nullopt);
  }
  return history;
}

// Returns the instances that may print the progress, most likely first: that of rank 0; the last
// one, which knows the loss of a pipeline; and, as a last attempt, the second one. Instances
// without a pod are left out.
std::vector<const text::Json*> ProgressPods(const TrainingJob& job) {
  const RankMap map = RankMap::Of(job.job);
  std::vector<const text::Json*> pods;
  const auto add = [&](size_t index) {
    if (index >= map.instances.size()) return;
    const text::Json* const pod = job.Pod(map.instances[index]);
    const bool is_new = std::find(pods.begin(), pods.end(), pod) == pods.end();
    if (pod != nullptr && is_new) pods.push_back(pod);
  };
  add(0);
  if (!map.instances.empty()) add(map.instances.size() - 1);
  add(1);
  return pods;
}

// Reads the event files of the first instance into `tail`.
void ReadEventFiles(cluster::Client& client, const TrainingJob& job, EventTail& tail,
                    std::chrono::seconds longest) {
  const RankMap map = RankMap::Of(job.job);
  const text::Json* const pod = map.instances.empty() ? nullptr : job.Pod(map.instances.front());
  if (pod == nullptr || api::Phase(*pod) != "Running") return;
  if (const auto created = api::CreationTime(job.job)) tail.Since(runs::ToMillis(*created));
  const base::Status looked = tail.Look(client, *pod, longest);
  if (!looked) base::LogDebug("event files: {}", looked.error().message);
}

void AddSeries(text::Json more, text::Array& list) {
  for (text::Json& one : more.as_array()) list.push_back(std::move(one));
}

}  // namespace

text::Json ProgressWithLog(cluster::Client& client, const Context& context, const TrainingJob& job,
                           int64_t points, Times times, EventTail* tail) {
  text::Json known = ProgressJson(client, context, job.job, points, times);
  if (context.cluster_is_this_machine) return known;
  runs::History history;
  for (const text::Json* const pod : ProgressPods(job)) {
    cluster::LogOptions options;
    options.timestamps = true;
    options.tail_lines = points > 0 ? kLinesOfCurves : kLinesOfLatest;
    const auto log = ReadPodLog(client, *pod, options, kMostOfLog);
    if (!log) continue;
    history = HistoryOf(*log, runs::SourceOfLog(std::string(api::Name(*pod))));
    if (!history.is_empty()) break;
  }
  EventTail own;
  EventTail& events = tail != nullptr ? *tail : own;
  ReadEventFiles(client, job, events, tail != nullptr ? kLookPatience : kPatienceOfOneLook);
  const bool has_events = !events.is_behind() && !events.history().is_empty();
  if (history.is_empty() && !has_events) return known;
  std::vector<runs::SourceProgress> sources = history.Latest();
  if (has_events) {
    for (runs::SourceProgress& read : events.history().Latest()) sources.push_back(std::move(read));
  }
  for (runs::SourceProgress& noted : SourcesIn(known)) sources.push_back(std::move(noted));
  std::stable_sort(sources.begin(), sources.end(),
                   [](const auto& a, const auto& b) { return a.at > b.at; });
  text::Array series;
  if (points > 0) {
    AddSeries(history.SeriesToJson(static_cast<size_t>(points)), series);
    if (has_events) {
      AddSeries(events.history().SeriesToJson(static_cast<size_t>(points)), series);
    }
  }
  return text::Object{{"uid", api::Uid(job.job)},
                      {"sources", SourcesToJson(sources)},
                      {"series", std::move(series)}};
}

}  // namespace arena
