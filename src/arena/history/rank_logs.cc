#include "arena/history/rank_logs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "answers/log/log_line.h"
#include "api/object.h"
#include "api/pod.h"
#include "arena/logs/all_logs.h"
#include "arena/logs/log_lines.h"
#include "arena/logs/pod_log.h"
#include "base/strings.h"
#include "base/utf8.h"

namespace arena {
namespace {

constexpr int64_t kLinesOfARank = 200;     // searched for the rank's step
constexpr size_t kMostLogBytes = 4 << 20;  // of one pod's log

std::string ShownLine(std::string_view line) {
  std::string text = answers::WithoutEscapes(line);
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
  text = base::Trim(text);
  if (text.size() > RankLogs::kLineLength) text.resize(RankLogs::kLineLength);
  return text;
}

}  // namespace

void RankLogs::Read(cluster::Client& client, const TrainingJob& job, const RankMap& map,
                    const std::string& instance, Reading& reading) const {
  const text::Json& pod = *job.Pod(instance);
  const auto container = ContainerToRead(job, instance, "");
  if (!container) return;
  cluster::LogOptions options;
  options.container = *container;
  options.tail_lines = kLinesOfARank * map.processes;
  options.since_time = reading.since;
  options.timestamps = true;
  const auto text = ReadPodLog(client, pod, options, kMostLogBytes);
  if (!text) return;
  reading.is_final = api::IsPodFinished(pod);
  std::string last_time;
  for (const TimedLine& line : SplitTimedLines(*text, last_time)) {
    std::string_view words = line.text;
    const auto rank = RankOf(map, instance, words);
    if (!rank || *rank < 0 || *rank >= map.size()) continue;
    if (map.instances[static_cast<size_t>(*rank / map.processes)] != instance) continue;
    Latest& latest = reading.latest[*rank];
    if (const auto time = base::ParseRfc3339(line.time + "Z"); time) {
      latest.at = *time;
      reading.since = base::FormatRfc3339(*time);
    }
    if (std::string step = StepIn(words); !step.empty()) latest.step = std::move(step);
    if (std::string shown = ShownLine(words); !shown.empty()) latest.line = std::move(shown);
  }
}

void RankLogs::Look(cluster::Client& client, const TrainingJob& job, const RankMap& map,
                    size_t most, size_t at_once) {
  ++turn_;
  std::vector<std::pair<const std::string*, Reading*>> due;
  for (const std::string& instance : map.instances) {
    const text::Json* const pod = job.Pod(instance);
    if (pod == nullptr) continue;
    Reading& reading = readings_[instance];
    if (reading.uid != api::Uid(*pod)) {
      reading = {};
      reading.uid = api::Uid(*pod);
    }
    if (!reading.is_final) due.emplace_back(&instance, &reading);
  }
  std::stable_sort(due.begin(), due.end(),
                   [](const auto& a, const auto& b) { return a.second->turn < b.second->turn; });
  if (due.size() > most) due.resize(most);
  std::atomic<size_t> next = 0;
  const auto read = [&] {
    for (size_t i = next++; i < due.size(); i = next++) {
      due[i].second->turn = turn_;
      Read(client, job, map, *due[i].first, *due[i].second);
    }
  };
  {
    std::vector<std::jthread> helpers;
    while (helpers.size() + 1 < std::min(at_once, due.size())) helpers.emplace_back(read);
    read();
  }
  unread_ =
      static_cast<size_t>(std::count_if(readings_.begin(), readings_.end(),
                                        [](const auto& entry) { return entry.second.turn == 0; }));
}

const std::map<int, RankLogs::Latest>& RankLogs::Of(const std::string& instance) const {
  static const std::map<int, Latest> kNothing;
  const auto found = readings_.find(instance);
  return found == readings_.end() ? kNothing : found->second.latest;
}

bool RankLogs::IsFresh(const std::string& instance) const {
  const auto found = readings_.find(instance);
  return found != readings_.end() && (found->second.turn == turn_ || found->second.is_final);
}

std::string StepIn(std::string_view line) {
  constexpr std::array<std::string_view, 5> kWords = {"step", "iteration", "iter", "batch",
                                                      "epoch"};
  const std::string lower = base::ToLower(line);
  for (const std::string_view word : kWords) {
    for (size_t at = 0; (at = lower.find(word, at)) != std::string::npos; ++at) {
      if (at > 0 && std::isalnum(static_cast<unsigned char>(lower[at - 1])) != 0) continue;
      size_t digit = at + word.size();
      while (digit < lower.size() &&
             std::string_view(" :=#[(").find(lower[digit]) != std::string_view::npos) {
        ++digit;
      }
      size_t end = digit;
      while (end < lower.size() && std::isdigit(static_cast<unsigned char>(lower[end])) != 0) ++end;
      if (end == digit || end - digit > 18) continue;
      return fmt::format("{} {}", word, std::string_view(lower).substr(digit, end - digit));
    }
  }
  return "";
}

}  // namespace arena
