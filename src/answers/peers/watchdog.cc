#include "answers/peers/watchdog.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "answers/has_any.h"
#include "answers/rank_number.h"
#include "base/strings.h"

namespace answers {
namespace {

// One line of one rank's watchdog.
struct Report {
  int rank = -1;
  std::string_view group;           // "PG ID 0 PG GUID 0(default_pg)"; "" in older torch
  std::optional<int64_t> sequence;  // number of the call that timed out
  std::string_view call;            // "ALLREDUCE"
  std::string_view elements;        // number of elements that the call takes
  std::optional<int64_t> enqueued;  // the last call that the rank has entered
  std::string_view text;
};

std::string_view Between(std::string_view text, std::string_view begin, std::string_view end) {
  const size_t at = text.find(begin);
  if (at == std::string_view::npos) return "";
  text = text.substr(at + begin.size());
  return text.substr(0, text.find_first_of(end));
}

std::optional<Report> ReadReport(std::optional<int> rank, std::string_view text) {
  const size_t file = text.find("ProcessGroupNCCL.cpp");
  if (file == std::string_view::npos) return std::nullopt;
  Report report;
  report.text = text;
  if (!rank) rank = RankOfWatchdog(text);
  if (!rank) return std::nullopt;
  report.rank = *rank;
  report.group = Between(text.substr(file), "[PG ", "]");
  report.group = report.group.substr(0, report.group.rfind(" Rank "));
  // At the end of a log a line may be cut, and its rest would differ from all others.
  if (text.find("Timeout(ms)=") != std::string_view::npos) {
    report.sequence = base::ParseInt(Between(text, "WorkNCCL(SeqNum=", ","));
  }
  report.call = Between(text, "OpType=", ",");
  report.elements = Between(text, "NumelIn=", ",");
  report.enqueued = base::ParseInt(Between(text, "ast enqueued NCCL work: ", ",. "));
  if (!report.enqueued) {
    report.enqueued = base::ParseInt(Between(text, "ast enqueued work: ", ",. "));
  }
  return report.sequence || report.enqueued ? std::optional(report) : std::nullopt;
}

// Whether all ranks give and get the same amount.
bool TakesTheSame(std::string_view call) {
  static constexpr auto kCalls =
      std::to_array<std::string_view>({"ALLREDUCE", "BROADCAST", "REDUCE", "BARRIER"});
  return std::find(kCalls.begin(), kCalls.end(), call) != kCalls.end();
}

bool Differ(const Report& one, const Report& other) {
  if (one.call != other.call) return true;
  return TakesTheSame(one.call) && one.elements != other.elements;
}

std::string Describe(const Report& report) {
  const std::string size =
      report.elements.empty() ? "" : fmt::format(" of {} elements", report.elements);
  return fmt::format("rank {} waited in {}{} as number {}", report.rank, report.call, size,
                     report.sequence.value_or(0));
}

// The rank that waited in another call than three or more others, which waited in the same one.
// Nullopt if half of the ranks up to `last` or more may have waited where it did.
std::optional<int> OddIn(const std::vector<const Report*>& waiting, int last) {
  constexpr size_t kFewest = 3;
  for (const Report* const odd : waiting) {
    const Report* other = nullptr;
    std::set<int> others;
    const bool is_odd = std::all_of(waiting.begin(), waiting.end(), [&](const Report* each) {
      if (each->rank == odd->rank) return !Differ(*each, *odd);
      if (other == nullptr) other = each;
      others.insert(each->rank);
      return Differ(*each, *odd) && !Differ(*each, *other);
    });
    const bool are_most =
        others.size() >= kFewest && others.size() * 2 > static_cast<size_t>(last) + 1;
    if (is_odd && are_most) return odd->rank;
  }
  return std::nullopt;
}

void FindMismatch(const std::vector<Report>& reports, int last, Watchdogs& found) {
  std::map<std::pair<std::string_view, int64_t>, std::vector<const Report*>> waiting;
  const std::vector<const Report*>* differing = nullptr;
  for (const Report& report : reports) {
    if (!report.sequence) continue;
    std::vector<const Report*>& same = waiting[{report.group, *report.sequence}];
    same.push_back(&report);
    if (differing != nullptr || same.front()->rank == report.rank ||
        !Differ(*same.front(), report)) {
      continue;
    }
    found.one = Describe(*same.front());
    found.other = Describe(report);
    differing = &same;
  }
  if (differing != nullptr) found.odd = OddIn(*differing, last);
}

void FindBehind(const std::vector<Report>& reports, Watchdogs& found) {
  std::map<std::string_view, int64_t> waited;  // by group, the earliest call in which a rank waited
  for (const Report& report : reports) {
    if (!report.sequence) continue;
    const auto [known, is_new] = waited.try_emplace(report.group, *report.sequence);
    if (!is_new) known->second = std::min(known->second, *report.sequence);
  }
  const Report* last = nullptr;
  bool is_alone = true;
  for (const Report& report : reports) {
    const auto group = waited.find(report.group);
    if (!report.enqueued || group == waited.end() || *report.enqueued >= group->second) continue;
    if (last != nullptr && last->rank != report.rank) {
      is_alone = *last->enqueued != *report.enqueued;
      if (*last->enqueued <= *report.enqueued) continue;
    }
    last = &report;
  }
  if (last == nullptr || !is_alone) return;
  found.behind = last->rank;
  found.line = last->text;
}

// Finds the rank that waited in an earlier call than all others, if these waited in the same call.
void FindEarlier(const std::vector<Report>& reports, Watchdogs& found) {
  std::map<int64_t, std::set<int>> waiting;
  const Report* first = nullptr;
  for (const Report& report : reports) {
    if (!report.sequence || (first != nullptr && report.group != first->group)) continue;
    waiting[*report.sequence].insert(report.rank);
    if (first == nullptr || *report.sequence < *first->sequence) first = &report;
  }
  if (waiting.size() != 2) return;
  const std::set<int>& earlier = waiting.begin()->second;
  const std::set<int>& later = waiting.rbegin()->second;
  if (earlier.size() != 1 || later.size() < 2 || later.contains(*earlier.begin())) return;
  found.behind = first->rank;
  found.line = first->text;
}

// Reads "[3] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d
// key-value store by key '0', but ..." (torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp). For send
// and recv the key is "2:3", of the two ranks, and the lower one has to store the id, whatever the
// message says. The numbers are those of a group: if the rank that asks has the same number in the
// job, all lower ranks of the job are in its group.
std::optional<int> LateWithId(std::string_view line, std::optional<int> asker) {
  constexpr std::string_view kAsks = "] is setting up NCCL communicator";
  constexpr std::string_view kId = "retrieving ncclUniqueId from [";
  const size_t at = line.find(kId);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view behind = line.substr(at + kId.size());
  const bool is_late = behind.find("wait timeout after") != std::string_view::npos ||
                       behind.find("got error: Socket Timeout") != std::string_view::npos;
  if (!is_late) return std::nullopt;
  const std::string_view before = line.substr(0, line.find(kAsks));
  const auto number = RankNumber(before.substr(before.rfind('[') + 1));
  if (asker && number && asker != number) return std::nullopt;
  const std::string_view key = Between(behind, "by key '", "'");
  const size_t colon = key.find(':');
  return RankNumber(colon == std::string_view::npos ? behind.substr(0, behind.find(']'))
                                                    : key.substr(0, colon));
}

// Whether the program says at its end that all is done.
bool IsFarewell(std::string_view text) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"finished", "completed", "complete", "exiting", "done", "bye"});
  static constexpr auto kTrouble = std::to_array<std::string_view>(
      {"error", "exception", "fail", "not ", "abort", "wait", "loading", "saving", "%|"});
  const std::string lower = base::ToLower(text);
  return HasAny(lower, kWords) && !HasAny(lower, kTrouble);
}

// Finds the rank that alone reports nothing while all others waited in the same call, if its last
// words are that it is done.
void FindAbsent(const Evidence& evidence, const std::vector<Report>& reports, Watchdogs& found) {
  constexpr size_t kFewest = 2;
  std::set<int> waiting, known;
  const Report* first = nullptr;
  for (const Report& report : reports) {
    if (!report.sequence) continue;
    if (first == nullptr) first = &report;
    if (report.sequence != first->sequence || report.group != first->group) return;
    waiting.insert(report.rank);
  }
  const Rank* absent = nullptr;
  for (const Rank& rank : evidence.ranks) {
    if (!rank.rank || rank.lines.empty()) continue;
    known.insert(*rank.rank);
    if (!waiting.contains(*rank.rank)) absent = &rank;
  }
  const bool are_all = known.size() == waiting.size() + 1 && *known.begin() == 0 &&
                       *known.rbegin() == static_cast<int>(waiting.size());
  if (absent == nullptr || waiting.size() < kFewest || !are_all) return;
  const auto last = std::find_if(absent->lines.rbegin(), absent->lines.rend(),
                                 [](const Line& line) { return !base::Trim(line.text).empty(); });
  if (last == absent->lines.rend() || !IsFarewell(last->text)) return;
  found.behind = *absent->rank;
  found.line = base::Trim(last->text);
}

constexpr int kMostDevices = 64;

// Takes the number before `end`, which it takes too.
std::optional<int> TakeNumber(std::string_view& text, std::string_view end) {
  constexpr int64_t kMost = 1 << 30;
  const size_t size = text.find_first_not_of("0123456789");
  if (size == std::string_view::npos || !text.substr(size).starts_with(end)) return std::nullopt;
  const auto number = base::ParseInt(text.substr(0, size));
  text.remove_prefix(size + end.size());
  return number && *number < kMost ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

}  // namespace

std::optional<int> RankOfWatchdog(std::string_view line) {
  const size_t file = line.find("ProcessGroupNCCL.cpp");
  if (file == std::string_view::npos) return std::nullopt;
  if (const auto rank = RankNumber(Between(line.substr(0, file), "[rank", "]"))) return rank;
  // In a group other than the default one, this is not the rank in the job.
  const std::string_view group = Between(line.substr(file), "[PG ", "]");
  if (!group.empty() && !group.starts_with("ID 0 ") && !group.starts_with("0 ")) {
    return std::nullopt;
  }
  return RankNumber(Between(line.substr(file), "Rank ", "]"));
}

std::optional<int> MissingAtBarrier(std::string_view line, std::optional<int> asker) {
  constexpr std::string_view kRank = "rank ";
  if (const size_t early = line.find(" had ended with exit code 0 while rank");
      early != std::string_view::npos) {
    const size_t name = line.rfind(kRank, early);
    if (name == std::string_view::npos) return std::nullopt;
    const std::string_view number = line.substr(name + kRank.size());
    return RankNumber(number.substr(0, number.find_first_not_of("0123456789")));
  }
  static constexpr auto kMissing = std::to_array<std::pair<std::string_view, char>>(
      {{" [missing ranks: ", ']'}, {"missing ranks: {", '}'}, {". Missing ranks: ", '\n'}});
  for (const auto& [begin, end] : kMissing) {
    const size_t at = line.find(begin);
    if (at == line.npos) continue;
    const std::string_view number = line.substr(at + begin.size());
    return RankNumber(base::Trim(number.substr(0, number.find(end))));  // of several, none
  }
  if (const auto late = LateWithId(line, asker)) return late;
  const size_t end = line.find(" failed to pass monitoredBarrier");
  if (end == std::string_view::npos) return std::nullopt;
  line = line.substr(0, end);
  const size_t rank = line.rfind("Rank");
  if (rank == std::string_view::npos) return std::nullopt;
  return RankNumber(Between(line.substr(rank), " ", ","));
}

Watchdogs ReadWatchdogs(const Evidence& evidence) {
  std::vector<Report> reports;
  for (const Rank& rank : evidence.ranks) {
    for (const Line& line : rank.lines) {
      if (const auto report = ReadReport(rank.rank, line.text)) reports.push_back(*report);
    }
  }
  // Numbers count within a group. If lines name several groups, a line without one could belong to
  // any of them.
  std::set<std::string_view> groups;
  for (const Report& report : reports) groups.insert(report.group);
  groups.erase("");
  if (groups.size() > 1) {
    std::erase_if(reports, [](const Report& report) { return report.group.empty(); });
  } else if (!groups.empty()) {
    for (Report& report : reports) report.group = *groups.begin();
  }
  Watchdogs found;
  int last = 0;
  for (const Rank& rank : evidence.ranks) last = std::max(last, rank.rank.value_or(0));
  for (const Report& report : reports) last = std::max(last, report.rank);
  FindMismatch(reports, last, found);
  if (found.one.empty()) FindBehind(reports, found);
  if (found.one.empty() && !found.behind) FindEarlier(reports, found);
  if (found.one.empty() && !found.behind) FindAbsent(evidence, reports, found);
  for (const Report& report : reports) {
    if (found.line.empty() && report.sequence) found.line = report.text;
  }
  return found;
}

std::optional<NcclPrefix> ReadNcclPrefix(std::string_view line) {
  if (line.find("NCCL ") == std::string_view::npos) return std::nullopt;
  NcclPrefix prefix;
  const size_t colon = line.find(':');
  if (colon == 0 || colon == std::string_view::npos) return std::nullopt;
  prefix.host = line.substr(0, colon);
  if (prefix.host.find(' ') != std::string_view::npos) return std::nullopt;
  line.remove_prefix(colon + 1);
  const auto process = TakeNumber(line, ":");
  const auto thread = process ? TakeNumber(line, " [") : std::nullopt;
  const auto device = thread ? TakeNumber(line, "] ") : std::nullopt;
  if (!device || *device >= kMostDevices) return std::nullopt;
  prefix.process = *process;
  prefix.device = *device;
  return prefix;
}

std::set<int> DevicesOfProcesses(std::span<const std::string_view> lines) {
  std::map<int, int> devices;  // by the process
  std::string_view host;
  for (const std::string_view line : lines) {
    const auto prefix = ReadNcclPrefix(line);
    if (!prefix) continue;
    if (host.empty()) host = prefix->host;
    const auto [known, is_new] = devices.try_emplace(prefix->process, prefix->device);
    if (host != prefix->host || known->second != prefix->device) return {};
  }
  std::set<int> used;
  for (const auto& [process, device] : devices) used.insert(device);
  return used.size() > 1 && used.size() == devices.size() ? used : std::set<int>();
}

}  // namespace answers
