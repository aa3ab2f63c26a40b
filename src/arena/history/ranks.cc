#include "arena/history/ranks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <thread>

#include "answers/stall/stack.h"
#include "api/object.h"
#include "api/pod.h"
#include "arena/logs/rank_lines.h"
#include "base/strings.h"
#include "base/utf8.h"
#include "cli/table.h"
#include "process/procfs.h"
#include "witness/native.h"
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
  bool is_native = false;  // it runs no Python that can be asked
};

std::vector<Watched> ProcessesOf(const Context& context, const TrainingJob& job,
                                 std::vector<RankState>& ranks) {
  std::vector<Watched> watched;
  process::ProcessTree tree;
  std::set<std::string> silent;
  for (const text::Json& pod : job.pods) {
    const std::string folder = witness::FolderOfPod(context.environment.StateDir(), api::Uid(pod));
    if (!api::IsPodFinished(pod)) silent.insert(folder);
    for (const auto& [rank, process] : witness::RanksAmong(witness::ProcessesIn(folder))) {
      if (static_cast<size_t>(rank) >= ranks.size()) continue;
      RankState& state = ranks[static_cast<size_t>(rank)];
      state.pid = process.pid;
      watched.push_back(
          {&state, folder, process.pid, witness::ActivityOf(folder, process.pid, tree)});
      silent.erase(folder);
    }
  }
  if (silent.empty() || !context.cluster_is_this_machine) return watched;
  for (const auto& [folder, rank, world, pid] : witness::NativeRanksOf(silent)) {
    if (static_cast<size_t>(rank) >= ranks.size()) continue;
    RankState& state = ranks[static_cast<size_t>(rank)];
    state.pid = pid;
    state.is_native = true;
    watched.push_back({&state, folder, pid, witness::ActivityOf(folder, pid, tree), true});
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
  witness::PidsByFolder by_folder;
  for (const Watched& each : watched) by_folder[each.folder].push_back(each.pid);
  std::optional<witness::Question> question;
  if (look == RankLook::kWithStacks) question.emplace(by_folder);
  const auto began = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(kSample);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  std::map<pid_t, std::string> dumps;
  if (question) dumps = question->Await(kAnswerWithin);
  // The recorders are asked at about the same time, so that each still remembers most of the
  // collectives that the others remember.
  std::map<pid_t, std::string> records = witness::RecorderQuestion(by_folder).Await(kAnswerWithin);
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
    if (each.is_native) {
      each.rank->doing = witness::SayKernelPlace(witness::KernelPlaceOf(each.pid));
    } else {
      Describe(dumps[each.pid], *each.rank);
    }
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

// What a narrow terminal does without, in this order. The rest is in every other output.
constexpr std::array<std::string_view, 8> kDispensable = {"STATE",   "INSTANCE", "MEMORY", "GPU",
                                                          "LATE BY", "RESTARTS", "CPU",    "QUIET"};
// Of the last column, before another column is left out for it.
constexpr size_t kShortestLast = 24;

size_t WidthOf(const std::string& table) {
  size_t widest = 0;
  for (const std::string& line : base::Split(table, '\n')) {
    widest = std::max(widest, cli::TextWidth(line));
  }
  return widest;
}

// The place in the program comes first, so the end is cut.
std::string CutTo(const std::string& text, size_t width) {
  if (cli::TextWidth(text) <= width) return text;
  size_t end = 0;
  for (size_t columns = 0; columns + 3 < width; ++columns) {
    end += std::max<size_t>(1, base::Utf8Length(std::string_view(text).substr(end)));
  }
  return text.substr(0, end) + "...";
}

// The column GPU, to the right of MEMORY, exists only if the job's GPUs are measured.
class RanksTable {
 public:
  explicit RanksTable(std::vector<std::string> head) : rows_{std::move(head)} {}

  void Row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  // In at most `width` columns, if it is above 0; says which columns it left out.
  RanksText Render(size_t width) {
    RanksText text;
    // A job whose GPUs are not measured has no column for them.
    if (IsAlways("GPU", "-")) Remove("GPU");
    for (const std::string_view column : kDispensable) {
      if (width == 0 || WidthOf(Table(kShortestLast)) <= width) break;
      if (column == "STATE" && !IsAlways("STATE", "Running")) continue;
      if (Remove(column)) text.left_out.emplace_back(column);
    }
    text.table = Table(std::string::npos);
    const size_t whole = WidthOf(text.table);
    if (width == 0 || whole <= width) return text;
    size_t last = 0;
    for (const auto& row : rows_) last = std::max(last, cli::TextWidth(row.back()));
    text.table = Table(std::max(kShortestLast, last - std::min(last, whole - width)));
    return text;
  }

 private:
  // With the last column cut.
  std::string Table(size_t longest_last) const {
    cli::Table table;
    for (std::vector<std::string> row : rows_) {
      row.back() = CutTo(row.back(), longest_last);
      table.Row(std::move(row));
    }
    return table.Render();
  }
  std::optional<size_t> Find(std::string_view column) const {
    const auto at = std::find(rows_[0].begin(), rows_[0].end(), column);
    if (at == rows_[0].end()) return std::nullopt;
    return static_cast<size_t>(at - rows_[0].begin());
  }
  bool IsAlways(std::string_view column, std::string_view value) const {
    const auto at = Find(column);
    return at && std::all_of(rows_.begin() + 1, rows_.end(),
                             [&](const auto& row) { return row[*at] == value; });
  }
  bool Remove(std::string_view column) {
    const auto at = Find(column);
    if (!at) return false;
    for (auto& row : rows_) row.erase(row.begin() + static_cast<std::ptrdiff_t>(*at));
    return true;
  }

  std::vector<std::vector<std::string>> rows_;
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

RanksText RenderRanks(const std::vector<RankState>& ranks, size_t width) {
  RanksTable table(
      {"RANK", "INSTANCE", "STATE", "STEP", "QUIET", "CPU", "MEMORY", "GPU", "LATE BY", "WHERE"});
  for (const RankState& rank : ranks) {
    std::string where = rank.place;
    if (!rank.doing.empty()) where += (where.empty() ? "" : ": ") + rank.doing;
    table.Row({std::to_string(rank.rank), rank.instance, OrDash(rank.state), OrDash(rank.step),
               QuietText(rank), CpuText(rank.cpu), MemoryText(rank.memory), GpuText(rank),
               LateText(rank.late), OrDash(where)});
  }
  return table.Render(width);
}

RanksText RenderDistantRanks(const std::vector<RankState>& ranks, size_t width) {
  RanksTable table(
      {"RANK", "INSTANCE", "STATE", "RESTARTS", "STEP", "QUIET", "CPU", "MEMORY", "GPU", "SAYS"});
  const std::string* above = nullptr;
  for (const RankState& rank : ranks) {
    // The use that several ranks of an instance share is in the row of the first of them.
    const bool is_first = above == nullptr || *above != rank.instance;
    above = &rank.instance;
    const bool is_shared = rank.instance_use && !rank.cpu;
    const PodUse use = rank.instance_use.value_or(PodUse());
    table.Row(
        {std::to_string(rank.rank), rank.instance, OrDash(rank.state), RestartsText(rank),
         OrDash(rank.step), QuietText(rank),
         is_shared ? (is_first ? CpuText(use.cpu) + " in all" : "") : CpuText(rank.cpu),
         is_shared ? (is_first ? MemoryText(use.memory) + " in all" : "") : MemoryText(rank.memory),
         GpuText(rank), OrDash(rank.waits.empty() ? rank.last_line : rank.waits)});
  }
  return table.Render(width);
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
