#include "arena/history/ranks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <thread>

#include "answers/stall/stack.h"
#include "api/object.h"
#include "arena/logs/all_logs.h"
#include "arena/logs/log_lines.h"
#include "arena/logs/pod_log.h"
#include "arena/logs/rank_lines.h"
#include "base/strings.h"
#include "cli/table.h"
#include "process/procfs.h"
#include "witness/recorder.h"
#include "witness/stacks.h"

namespace arena {
namespace {

constexpr std::chrono::milliseconds kSample{500};
constexpr std::chrono::milliseconds kAnswerWithin{1000};
constexpr int64_t kLinesOfARank = 200;     // in which its step is looked for
constexpr size_t kMostLogBytes = 4 << 20;  // of a pod's log

// A process of the pod that is a rank, with what it used before the sample.
struct Watched {
  RankState* rank;
  std::string folder;
  pid_t pid;
  answers::Activity before;
};

void ReadLog(cluster::Client& client, const Context& context, const TrainingJob& job,
             const std::string& instance, const RankMap& map, std::vector<RankState>& ranks) {
  cluster::LogOptions options;
  const auto container = ContainerToRead(job, instance, "");
  if (!container) return;
  options.container = *container;
  options.tail_lines = kLinesOfARank * map.processes;
  options.timestamps = true;
  const auto text = ReadPodLog(client, *job.Pod(instance), options, kMostLogBytes);
  if (!text) return;
  std::string last_time;
  for (const TimedLine& line : SplitTimedLines(*text, last_time)) {
    std::string_view words = line.text;
    const auto rank = RankOf(map, instance, words);
    if (!rank || static_cast<size_t>(*rank) >= ranks.size()) continue;
    RankState& state = ranks[static_cast<size_t>(*rank)];
    if (const auto time = base::ParseRfc3339(line.time + "Z"); time) {
      state.quiet = std::max(context.clock.Now() - *time, base::Duration(0));
    }
    if (std::string step = StepIn(words); !step.empty()) state.step = std::move(step);
  }
}

std::vector<Watched> ProcessesOf(const Context& context, const TrainingJob& job,
                                 std::vector<RankState>& ranks) {
  std::vector<Watched> watched;
  process::ProcessTree tree;
  for (const text::Json& pod : job.pods) {
    const std::string folder = witness::FolderOfPod(context.environment.StateDir(), api::Uid(pod));
    for (const auto& [rank, process] : witness::RanksAmong(witness::ProcessesIn(folder))) {
      if (static_cast<size_t>(rank) >= ranks.size()) continue;
      RankState& state = ranks[static_cast<size_t>(rank)];
      state.pid = process.pid;
      watched.push_back(
          {&state, folder, process.pid, witness::ActivityOf(folder, process.pid, tree)});
    }
  }
  return watched;
}

void Describe(const std::string& dump, RankState& rank) {
  const auto stacks = answers::ReadStacks(dump);
  if (stacks.empty()) return;
  const answers::Doing doing = answers::WhatItDoes(stacks.front().frames);
  rank.place = doing.where;
  switch (doing.kind) {
    case answers::Doing::Kind::kWaiting:
      rank.doing = "waits in " + doing.what;
      break;
    case answers::Doing::Kind::kSaving:
      rank.doing = "saves or loads a checkpoint";
      break;
    case answers::Doing::Kind::kCompiling:
      rank.doing = "compiles";
      break;
    case answers::Doing::Kind::kDebugging:
      rank.doing = "is in a debugger";
      break;
    case answers::Doing::Kind::kOwn:
    case answers::Doing::Kind::kSilent:
      rank.doing = doing.inner;
      break;
  }
}

void LookAt(std::vector<Watched>& watched, RankLook look) {
  if (watched.empty()) return;
  std::map<std::string, std::vector<pid_t>> by_folder;
  for (const Watched& each : watched) by_folder[each.folder].push_back(each.pid);
  std::vector<witness::Question> questions;
  if (look == RankLook::kWithStacks) {
    for (const auto& [folder, pids] : by_folder) questions.emplace_back(folder, pids);
  }
  const auto began = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(kSample);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  std::map<pid_t, std::string> dumps;
  for (const witness::Question& question : questions) dumps.merge(question.Await(kAnswerWithin));
  // All at about one time, so that most collectives are known of each.
  std::vector<witness::RecorderQuestion> recorders;
  for (const auto& [folder, pids] : by_folder) recorders.emplace_back(folder, pids);
  std::map<pid_t, std::string> told;
  for (witness::RecorderQuestion& recorder : recorders) told.merge(recorder.Await(kAnswerWithin));
  std::map<int, answers::Trace> traces;
  for (const Watched& each : watched) {
    if (auto trace = answers::ReadTrace(told[each.pid]))
      traces[each.rank->rank] = std::move(*trace);
  }
  const std::map<int, answers::Lateness> late = answers::LatenessOf(traces);
  for (const Watched& each : watched) {
    const auto known = late.find(each.rank->rank);
    if (known != late.end()) each.rank->late = known->second;
  }
  process::ProcessTree tree;
  for (const Watched& each : watched) {
    const answers::Activity now = witness::ActivityOf(each.folder, each.pid, tree);
    if (now.state == '?') continue;
    const uint64_t ticks = now.ticks - std::min(now.ticks, each.before.ticks);
    each.rank->cpu =
        static_cast<double>(ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK)) / seconds;
    each.rank->memory = process::ResidentBytes(each.pid);
    if (now.state == 'T') each.rank->state = "Stopped";
    Describe(dumps[each.pid], *each.rank);
  }
}

// "12 ms, last 9 of 10"; "-" of a rank that is never the last.
std::string LateText(const std::optional<answers::Lateness>& late) {
  if (!late || late->last == 0) return "-";
  const double ms = std::chrono::duration<double, std::milli>(late->median).count();
  return fmt::format("{:.{}f} ms, last {} of {}", ms, ms < 10 ? 1 : 0, late->last,
                     late->collectives);
}

text::Json LateJson(const std::optional<answers::Lateness>& late) {
  if (!late) return nullptr;
  return text::Object{
      {"collectives", late->collectives},
      {"last", late->last},
      {"medianMicroseconds",
       std::chrono::duration_cast<std::chrono::microseconds>(late->median).count()}};
}

std::string OrDash(std::string text) { return text.empty() ? "-" : text; }

}  // namespace

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

std::vector<RankState> RanksOf(cluster::Client& client, const Context& context,
                               const TrainingJob& job, RankLook look) {
  const RankMap map = RankMap::Of(job.job);
  std::vector<RankState> ranks;
  for (const std::string& instance : map.instances) {
    const auto known = std::find_if(
        job.summary.instances.begin(), job.summary.instances.end(),
        [&instance](const api::InstanceSummary& each) { return each.name == instance; });
    for (int i = 0; i < map.processes; ++i) {
      RankState& rank = ranks.emplace_back();
      rank.rank = static_cast<int>(ranks.size()) - 1;
      rank.instance = instance;
      rank.state = known == job.summary.instances.end() ? "" : known->status;
    }
  }
  for (const std::string& instance : map.instances) {
    if (job.Pod(instance) != nullptr) ReadLog(client, context, job, instance, map, ranks);
  }
  std::vector<Watched> watched = ProcessesOf(context, job, ranks);
  LookAt(watched, look);
  return ranks;
}

std::string RenderRanks(const std::vector<RankState>& ranks) {
  cli::Table table;
  table.Row({"RANK", "INSTANCE", "STATE", "STEP", "QUIET", "CPU", "MEMORY", "LATE BY", "WHERE"});
  for (const RankState& rank : ranks) {
    std::string where = rank.place;
    if (!rank.doing.empty()) where += (where.empty() ? "" : ": ") + rank.doing;
    table.Row({std::to_string(rank.rank), rank.instance, OrDash(rank.state), OrDash(rank.step),
               rank.quiet ? base::ShortDuration(*rank.quiet) : "-",
               rank.cpu ? fmt::format("{:.0f}%", 100 * *rank.cpu) : "-",
               rank.memory ? fmt::format("{} MiB", *rank.memory >> 20) : "-", LateText(rank.late),
               OrDash(where)});
  }
  return table.Render();
}

text::Json RanksToJson(const std::vector<RankState>& ranks) {
  text::Array array;
  for (const RankState& rank : ranks) {
    const text::Json none(nullptr);
    array.push_back(text::Object{
        {"rank", rank.rank},
        {"instance", rank.instance},
        {"state", rank.state},
        {"step", rank.step},
        {"quietSeconds",
         rank.quiet
             ? text::Json(std::chrono::duration_cast<std::chrono::seconds>(*rank.quiet).count())
             : none},
        {"pid", rank.pid ? text::Json(*rank.pid) : none},
        {"cpu", rank.cpu ? text::Json(*rank.cpu) : none},
        {"memoryBytes", rank.memory ? text::Json(*rank.memory) : none},
        {"late", LateJson(rank.late)},
        {"where", rank.place},
        {"doing", rank.doing}});
  }
  return array;
}

}  // namespace arena
