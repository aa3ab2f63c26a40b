#include "answers/stall/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/strings.h"
#include "text/lenient_json.h"

namespace answers {
namespace {

// Names come from the rank and are shown on a terminal.
constexpr size_t kLongestName = 80;
// The group of all ranks (torch/distributed/distributed_c10d.py).
constexpr const char* kDefaultGroup = "0";

std::string Printable(std::string_view text) {
  std::string name(text.substr(0, kLongestName));
  for (char& c : name) {
    if (c < ' ' || c > '~') c = '?';
  }
  return name;
}

// PyTorch writes some numbers as strings.
int64_t NumberAt(const text::Json& json, std::string_view name) {
  const text::Json* const value = text::Find(json, {name});
  return value == nullptr ? 0 : base::ParseInt(text::ToText(*value)).value_or(0);
}

// Reads "gloo:all_reduce" and "nccl:_all_gather_base".
std::string NameOfOperation(const text::Json& entry) {
  const std::string_view text = text::GetString(entry, {"profiling_name"});
  return Printable(text.substr(text.find(':') + 1));
}

// Returns "[8, 4], [2]" for several tensors and "[8, 4]" for one.
std::string ListAt(const text::Json& entry, std::string_view name) {
  std::string list;
  for (const text::Json& item : text::Items(entry, {name})) {
    list += (list.empty() ? "" : ",") + text::ToText(item);
  }
  return Printable(base::ReplaceAll(std::move(list), ",", ", "));
}

struct Groups {
  std::map<std::string, std::string> names;  // by the id in pg_status
  Trace trace;
};

void AddEntry(const text::Json& entry, Groups& groups) {
  const text::Array& group = text::Items(entry, {"process_group"});
  const int64_t number = NumberAt(entry, "collective_seq_id");
  if (group.empty() || number <= 0) return;
  if (text::GetBool(entry, {"is_p2p"}).value_or(false)) return;
  const std::string name = Printable(text::ToText(group[0]));
  if (const text::Json* const id = text::Find(entry, {"pg_id"}))
    groups.names[text::ToText(*id)] = name;
  Collective& collective = groups.trace[name].collectives[number];
  collective.name = NameOfOperation(entry);
  collective.sizes = ListAt(entry, "input_sizes");
  collective.dtypes = ListAt(entry, "input_dtypes");
  collective.created_ns = NumberAt(entry, "time_created_ns");
}

// Whether each rank must give as much as the others.
bool MustBeEqual(std::string_view name) {
  static constexpr auto kEqual = std::to_array<std::string_view>(
      {"all_reduce", "broadcast", "reduce", "all_gather", "_all_gather_base",
       "all_gather_into_tensor", "_allgather_base", "reduce_scatter_tensor", "_reduce_scatter_base",
       "reduce_scatter"});
  return std::find(kEqual.begin(), kEqual.end(), name) != kEqual.end();
}

Disagreement::Kind Compared(const Collective& a, const Collective& b) {
  if (a.name != b.name) return Disagreement::Kind::kOrder;
  if (!MustBeEqual(a.name)) return Disagreement::Kind::kMissing;
  if (a.sizes != b.sizes) return Disagreement::Kind::kSizes;
  return a.dtypes != b.dtypes ? Disagreement::Kind::kDtypes : Disagreement::Kind::kMissing;
}

bool AreSame(const Collective& a, const Collective& b) {
  return Compared(a, b) == Disagreement::Kind::kMissing;
}

using Ranks = std::map<int, const GroupTrace*>;

// Returns what most ranks call; in a tie, what the lowest rank calls.
const Collective& Majority(const std::map<int, const Collective*>& calls) {
  const Collective* best = calls.begin()->second;
  size_t most = 0;
  for (const auto& [rank, call] : calls) {
    const auto count =
        static_cast<size_t>(std::count_if(calls.begin(), calls.end(), [&](const auto& each) {
          return AreSame(*each.second, *call);
        }));
    if (count > most) {
      most = count;
      best = call;
    }
  }
  return *best;
}

// Compares the calls with this number in a group.
std::optional<Disagreement> CompareAt(const Ranks& ranks, int64_t number) {
  std::map<int, const Collective*> calls;
  Disagreement found;
  found.number = number;
  for (const auto& [rank, group] : ranks) {
    if (const auto call = group->collectives.find(number); call != group->collectives.end()) {
      calls[rank] = &call->second;
    }
  }
  if (calls.empty()) return std::nullopt;
  found.expected = Majority(calls);
  for (const auto& [rank, call] : calls) {
    if (AreSame(*call, found.expected)) {
      found.others.push_back(rank);
      continue;
    }
    if (found.odd.empty()) found.kind = Compared(*call, found.expected);
    found.odd[rank] = *call;
  }
  if (!found.odd.empty()) return found;
  for (const auto& [rank, group] : ranks) {
    if (group->entered >= number) continue;
    const auto last = group->collectives.find(group->entered);
    found.odd[rank] = last == group->collectives.end() ? Collective() : last->second;
  }
  if (found.odd.empty()) return std::nullopt;
  return found;
}

std::optional<Disagreement> CompareGroup(const Ranks& ranks) {
  // Only collectives that some rank has not finished and some rank has entered are compared.
  int64_t first = INT64_MAX;
  int64_t last = 0;
  std::set<int64_t> numbers;
  for (const auto& [rank, group] : ranks) {
    first = std::min(first, group->completed + 1);
    last = std::max(last, group->entered);
    for (const auto& [number, call] : group->collectives) numbers.insert(number);
  }
  for (const int64_t number : numbers) {
    if (number < first || number > last) continue;
    if (auto found = CompareAt(ranks, number)) return found;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Trace> ReadTrace(std::string_view json) {
  const auto whole = text::ParseJsonLeniently(json);
  if (!whole || text::Find(*whole, {"pg_status"}) == nullptr) return std::nullopt;
  Groups groups;
  for (const text::Json& entry : text::Items(*whole, {"entries"})) AddEntry(entry, groups);
  for (const auto& [id, state] : text::Members(*whole, {"pg_status"})) {
    const auto name = groups.names.find(id);
    if (name == groups.names.end()) continue;
    GroupTrace& group = groups.trace[name->second];
    group.entered = std::max<int64_t>(0, NumberAt(state, "last_enqueued_collective"));
    group.completed = std::max<int64_t>(0, NumberAt(state, "last_completed_collective"));
  }
  return std::move(groups.trace);
}

std::optional<Disagreement> Compare(const std::map<int, Trace>& traces) {
  static const GroupTrace kNothingYet;
  std::map<std::string, Ranks> groups;
  for (const auto& [rank, trace] : traces) {
    for (const auto& [name, group] : trace) groups[name][rank] = &group;
  }
  if (const auto all = groups.find(kDefaultGroup); all != groups.end()) {
    for (const auto& [rank, trace] : traces) all->second.try_emplace(rank, &kNothingYet);
  }
  std::optional<Disagreement> earliest;
  for (const auto& [name, ranks] : groups) {
    auto found = CompareGroup(ranks);
    if (!found) continue;
    found->group = name;
    if (!earliest || found->expected.created_ns < earliest->expected.created_ns) {
      earliest = std::move(found);
    }
  }
  return earliest;
}

std::map<int, Lateness> LatenessOf(const std::map<int, Trace>& traces) {
  // The times at which the ranks came, by group and number.
  std::map<std::pair<std::string, int64_t>, std::map<int, int64_t>> meetings;
  std::map<std::string, size_t> members;
  for (const auto& [rank, trace] : traces) {
    for (const auto& [name, group] : trace) {
      ++members[name];
      for (const auto& [number, call] : group.collectives) {
        if (call.created_ns > 0) meetings[{name, number}][rank] = call.created_ns;
      }
    }
  }
  std::map<int, std::vector<int64_t>> late;
  std::map<int, Lateness> found;
  for (const auto& [which, came] : meetings) {
    if (came.size() < 2 || came.size() != members[which.first]) continue;
    const auto by_time = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto first = std::min_element(came.begin(), came.end(), by_time);
    const auto last = std::max_element(came.begin(), came.end(), by_time);
    ++found[last->first].last;
    for (const auto& [rank, time] : came) late[rank].push_back(time - first->second);
  }
  for (auto& [rank, times] : late) {
    std::sort(times.begin(), times.end());
    found[rank].collectives = static_cast<int>(times.size());
    found[rank].median = std::chrono::nanoseconds(times[times.size() / 2]);
  }
  return found;
}

std::string NameRanks(const std::vector<int>& ranks) {
  std::vector<std::string> parts;
  for (size_t at = 0; at < ranks.size();) {
    size_t end = at;
    while (end + 1 < ranks.size() && ranks[end + 1] == ranks[end] + 1) ++end;
    if (end >= at + 2) {
      parts.push_back(fmt::format("{}-{}", ranks[at], ranks[end]));
    } else {
      for (size_t each = at; each <= end; ++each) parts.push_back(fmt::format("{}", ranks[each]));
    }
    at = end + 1;
  }
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", base::Join(parts, ", "));
}

std::string SayMismatch(const Disagreement& found, const std::map<int, std::string>& places) {
  const bool is_order = found.kind == Disagreement::Kind::kOrder;
  const auto what = [&](const Collective& call) {
    const std::string& given = found.kind == Disagreement::Kind::kSizes ? call.sizes : call.dtypes;
    return is_order ? call.name : given.empty() ? "nothing" : given;
  };
  const auto place = [&](int rank) {
    const auto known = places.find(rank);
    return known == places.end() || known->second.empty() ? "" : " (" + known->second + ")";
  };
  // A rank's stack may arrive later than its flight record.
  const auto placed = std::find_if(found.others.begin(), found.others.end(),
                                   [&](int rank) { return !place(rank).empty(); });
  const int other = placed == found.others.end() ? found.others[0] : *placed;
  std::string text;
  for (const auto& [rank, call] : found.odd) {
    text += fmt::format("{}rank {} {} {}{}", text.empty() ? "" : ", ", rank,
                        is_order ? "calls" : "gives", what(call), place(rank));
  }
  const bool has_one = found.others.size() == 1;
  text += fmt::format(" where {} {}{} {}{}: ", NameRanks(found.others), is_order ? "call" : "give",
                      has_one ? "s" : "", what(found.expected), place(other));
  if (is_order) return text + fmt::format("collective #{} differs between ranks", found.number);
  return text + fmt::format("the {} of {} differ",
                            found.kind == Disagreement::Kind::kSizes ? "sizes" : "types",
                            NameOf(found.expected, found.number));
}

std::string NameOf(const Collective& collective, int64_t number) {
  return fmt::format("{} #{}", collective.name, number);
}

}  // namespace answers
