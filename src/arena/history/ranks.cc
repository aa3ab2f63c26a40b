#include "arena/history/ranks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <thread>

#include "answers/stall/stack.h"
#include "api/object.h"
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
constexpr size_t kLogsAtOnce = 8;  // read at the same time if the cluster is not this machine

// A process of a pod that is a rank, with its activity before the sample.
struct Watched {
  RankState* rank;
  std::string folder;
  pid_t pid;
  answers::Activity before;
};

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
  // The recorders are asked at about the same time, so that each still remembers most of the
  // collectives that the others remember.
  std::vector<witness::RecorderQuestion> recorders;
  for (const auto& [folder, pids] : by_folder) recorders.emplace_back(folder, pids);
  std::map<pid_t, std::string> records;
  for (witness::RecorderQuestion& recorder : recorders)
    records.merge(recorder.Await(kAnswerWithin));
  std::map<int, answers::Trace> traces;
  for (const Watched& each : watched) {
    if (auto trace = answers::ReadTrace(records[each.pid]))
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

void AddInstance(const api::InstanceSummary& instance, RankState& rank) {
  rank.state = instance.status;
  rank.restarts = instance.restarts;
  rank.last_end = instance.last_end;
  rank.waits = instance.waits;
}

void AddUse(const std::map<std::string, PodUse>& uses, int processes,
            std::vector<RankState>& ranks) {
  for (RankState& rank : ranks) {
    const auto use = uses.find(rank.instance);
    if (use == uses.end()) continue;
    rank.instance_use = use->second;
    if (processes > 1) continue;
    rank.cpu = use->second.cpu;
    rank.memory = use->second.memory;
  }
}

// Returns "12 ms, last 9 of 10", or "-" for a rank that is never the last.
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

std::string QuietText(const RankState& rank) {
  return rank.quiet ? base::ShortDuration(*rank.quiet) : "-";
}

std::string CpuText(const std::optional<double>& cpu) {
  return cpu ? fmt::format("{:.0f}%", 100 * *cpu) : "-";
}

std::string MemoryText(const std::optional<int64_t>& memory) {
  return memory ? fmt::format("{} MiB", *memory >> 20) : "-";
}

// "98%, 2790 MiB"
std::string GpuText(const RankState& rank) {
  if (!rank.gpu) return "-";
  return fmt::format("{:.0f}%, {} MiB", rank.gpu->duty_cycle,
                     static_cast<int64_t>(rank.gpu->memory_used) >> 20);
}

// The column GPU, to the right of MEMORY, exists only if the job's GPUs are measured.
class RanksTable {
 public:
  RanksTable(const std::vector<RankState>& ranks, std::vector<std::string> head)
      : has_gpus_(std::any_of(ranks.begin(), ranks.end(),
                              [](const RankState& rank) { return rank.gpu.has_value(); })),
        behind_(std::find(head.begin(), head.end(), "MEMORY") - head.begin() + 1) {
    Row("GPU", std::move(head));
  }
  void Row(std::string gpu, std::vector<std::string> cells) {
    if (has_gpus_) cells.insert(cells.begin() + behind_, std::move(gpu));
    table_.Row(std::move(cells));
  }
  std::string Render() const { return table_.Render(); }

 private:
  const bool has_gpus_;
  const std::ptrdiff_t behind_;
  cli::Table table_;
};

// "2 (OOMKilled)"
std::string RestartsText(const RankState& rank) {
  return rank.last_end.empty() ? std::to_string(rank.restarts)
                               : fmt::format("{} ({})", rank.restarts, rank.last_end);
}

std::string OrDash(std::string text) { return text.empty() ? "-" : text; }

}  // namespace

std::vector<RankState> RanksOf(cluster::Client& client, const Context& context,
                               const TrainingJob& job, RankLogs& logs, const LookAtRanks& look) {
  const RankMap map = RankMap::Of(job.job);
  const size_t at_once = context.cluster_is_this_machine ? 1 : kLogsAtOnce;
  logs.Look(client, job, map, look.most_logs, at_once);
  const base::Time now = context.clock.Now();
  std::vector<RankState> ranks;
  for (const std::string& instance : map.instances) {
    const auto known = std::find_if(
        job.summary.instances.begin(), job.summary.instances.end(),
        [&instance](const api::InstanceSummary& each) { return each.name == instance; });
    const auto gpus = MetricsOfPod(look.gpus, job.summary.namespace_name, instance);
    for (int i = 0; i < map.processes; ++i) {
      RankState& rank = ranks.emplace_back();
      rank.rank = static_cast<int>(ranks.size()) - 1;
      rank.instance = instance;
      rank.gpu = UseOfRank(gpus, static_cast<size_t>(i), static_cast<size_t>(map.processes));
      if (known != job.summary.instances.end()) AddInstance(*known, rank);
    }
    for (const auto& [number, latest] : logs.Of(instance)) {
      RankState& rank = ranks[static_cast<size_t>(number)];
      if (latest.at) rank.quiet = std::max(now - *latest.at, base::Duration(0));
      rank.step = latest.step;
      rank.last_line = latest.line;
    }
  }
  AddUse(look.uses, map.processes, ranks);
  std::vector<Watched> watched = ProcessesOf(context, job, ranks);
  LookAt(watched, look.stacks);
  return ranks;
}

std::string RenderRanks(const std::vector<RankState>& ranks) {
  RanksTable table(
      ranks, {"RANK", "INSTANCE", "STATE", "STEP", "QUIET", "CPU", "MEMORY", "LATE BY", "WHERE"});
  for (const RankState& rank : ranks) {
    std::string where = rank.place;
    if (!rank.doing.empty()) where += (where.empty() ? "" : ": ") + rank.doing;
    table.Row(GpuText(rank), {std::to_string(rank.rank), rank.instance, OrDash(rank.state),
                              OrDash(rank.step), QuietText(rank), CpuText(rank.cpu),
                              MemoryText(rank.memory), LateText(rank.late), OrDash(where)});
  }
  return table.Render();
}

std::string RenderDistantRanks(const std::vector<RankState>& ranks) {
  RanksTable table(
      ranks, {"RANK", "INSTANCE", "STATE", "RESTARTS", "STEP", "QUIET", "CPU", "MEMORY", "SAYS"});
  const std::string* above = nullptr;
  for (const RankState& rank : ranks) {
    // The use that several ranks of an instance share is in the row of the first of them.
    const bool is_first = above == nullptr || *above != rank.instance;
    above = &rank.instance;
    const bool is_shared = rank.instance_use && !rank.cpu;
    const PodUse use = rank.instance_use.value_or(PodUse());
    table.Row(
        GpuText(rank),
        {std::to_string(rank.rank), rank.instance, OrDash(rank.state), RestartsText(rank),
         OrDash(rank.step), QuietText(rank),
         is_shared ? (is_first ? CpuText(use.cpu) + " in all" : "") : CpuText(rank.cpu),
         is_shared ? (is_first ? MemoryText(use.memory) + " in all" : "") : MemoryText(rank.memory),
         OrDash(rank.waits.empty() ? rank.last_line : rank.waits)});
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
        {"gpu", rank.gpu ? text::Json(rank.gpu->duty_cycle / 100) : none},
        {"gpuMemoryBytes",
         rank.gpu ? text::Json(static_cast<int64_t>(rank.gpu->memory_used)) : none},
        {"instanceCpu", rank.instance_use ? text::Json(rank.instance_use->cpu) : none},
        {"instanceMemoryBytes", rank.instance_use ? text::Json(rank.instance_use->memory) : none},
        {"restarts", rank.restarts},
        {"lastEnd", rank.last_end},
        {"waits", rank.waits},
        {"lastLine", rank.last_line},
        {"late", LateJson(rank.late)},
        {"where", rank.place},
        {"doing", rank.doing}});
  }
  return array;
}

}  // namespace arena
