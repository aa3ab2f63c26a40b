#include "answers/log/actor_rank.h"

#include <algorithm>
#include <set>

#include "answers/rank_number.h"
#include "base/strings.h"

namespace answers {
namespace {

// Returns what stands behind "key=", up to the next sign or blank; "" if there is none.
std::string_view FieldIn(std::string_view fields, std::string_view key) {
  for (size_t at = fields.find(key); at != std::string_view::npos; at = fields.find(key, at + 1)) {
    const bool is_begin = at == 0 || fields[at - 1] == ' ' || fields[at - 1] == '(';
    const std::string_view rest = fields.substr(at + key.size());
    if (is_begin && rest.starts_with('=')) return rest.substr(1, rest.find_first_of(",) ", 1) - 1);
  }
  return "";
}

std::optional<int> PidOf(std::string_view text) {
  const auto pid = base::ParseInt(text);
  return pid && *pid > 0 && *pid < 10'000'000 ? std::optional(static_cast<int>(*pid))
                                              : std::nullopt;
}

std::optional<int> PidIn(std::string_view fields) { return PidOf(FieldIn(fields, "pid")); }

// Returns the word behind `key`; "" if there is none.
std::string_view WordBehind(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return "";
  text = text.substr(at + key.size());
  return text.substr(0, text.find_first_of(" \t"));
}

// What Ray tells of an actor that died.
struct DeadActor {
  std::string_view type, pid, address;
  bool did_node_die = false;
};

// Reads the block of an ActorDiedError (ray/exceptions.py): "class_name: X", "pid: 430" and "ip:
// 10.0.0.2" in lines of their own, and the reason below them.
DeadActor ReadDeadActor(const std::vector<std::string_view>& lines, size_t at) {
  constexpr size_t kMostFields = 8;
  DeadActor dead;
  for (size_t i = at + 1; i < lines.size() && i <= at + kMostFields; ++i) {
    const std::string_view text = base::Trim(lines[i]);
    if (text.starts_with("class_name: ")) dead.type = WordBehind(text, "class_name: ");
    if (text.starts_with("pid: ")) dead.pid = WordBehind(text, "pid: ");
    if (text.starts_with("ip: ")) dead.address = WordBehind(text, "ip: ");
    if (!text.starts_with("The actor ")) continue;
    dead.did_node_die = text.find("because its node has died") != text.npos;
    // Ray ends an actor that nobody needs any more, or a group of which another one died.
    if (text.find("INTENDED_") != text.npos) return {};
    break;
  }
  return dead;
}

// Reads the names that vLLM's workers give themselves (multiproc_executor.py): "VllmWorker rank=2
// pid=7" and, by the groups of which there are several, "Worker_TP3_EP3 pid=7". If there is one
// kind of groups, its number is the rank; those of decode contexts and of experts lie within it.
std::optional<int> RankOfVllm(std::string_view name) {
  if (name.starts_with("VllmWorker rank=")) return RankOfDigits(FieldIn(name, "rank"));
  constexpr std::string_view kBegin = "Worker_";
  if (!name.starts_with(kBegin)) return std::nullopt;
  std::optional<int> rank;
  for (const std::string& group :
       base::Split(name.substr(kBegin.size(), name.find(' ') - kBegin.size()), '_')) {
    const size_t digit = std::min(group.find_first_of("0123456789"), group.size());
    const std::string_view kind = std::string_view(group).substr(0, digit);
    if (kind == "EP" || kind == "DCP") continue;
    const auto number = RankOfDigits(std::string_view(group).substr(digit));
    if (rank || !number || (kind != "TP" && kind != "PP" && kind != "DP")) return std::nullopt;
    rank = number;
  }
  return rank;
}

}  // namespace

void ActorRanks::ReadRow(std::string_view text) {
  constexpr std::string_view kRank = ") world_rank=";
  text = base::Trim(text);
  const size_t end = text.find(kRank);
  if (end == std::string_view::npos || !(text.starts_with("- (") || text.starts_with("* ("))) {
    return;
  }
  const auto rank = RankOfDigits(FieldIn(text.substr(end + 2), "world_rank"));
  const std::string_view fields = text.substr(2, end - 1);
  const auto pid = PidIn(fields);
  const std::string_view address = FieldIn(fields, "ip");
  if (!rank || !pid || address.empty()) return;
  const auto [known, is_new] = workers_.try_emplace({std::string(address), *pid}, rank);
  if (!is_new && known->second != rank) known->second.reset();
}

void ActorRanks::ReadName(std::string_view name) {
  const auto rank = RankOfVllm(name);
  if (!rank) return;
  const auto [known, is_new] = names_.try_emplace(*rank, name);
  if (!is_new && known->second != name) known->second.clear();
}

std::optional<int> ActorRanks::RankOf(std::string_view name) const {
  if (const auto rank = RankOfVllm(name)) {
    const auto known = names_.find(*rank);
    return known != names_.end() && known->second == name ? rank : std::nullopt;
  }
  return name.find("TrainWorker pid=") == std::string_view::npos ? std::nullopt
                                                                 : RankOfWorker(name);
}

std::optional<int> ActorRanks::RankOfTaskError(std::string_view text) const {
  constexpr std::string_view kBegin = "): ray::";
  const size_t task = text.find(kBegin);
  if (!text.starts_with("ray.exceptions.RayTaskError(") || task == std::string_view::npos) {
    return std::nullopt;
  }
  const size_t fields = text.find(" (pid=", task);
  const bool is_workers = text.substr(task, fields - task).find("TrainWorker") != text.npos;
  return is_workers && fields != text.npos ? RankOfWorker(text.substr(fields + 1)) : std::nullopt;
}

// Ray leaves out the address of the driver's node. The PID may then be that of several workers.
std::optional<int> ActorRanks::RankOfWorker(std::string_view fields) const {
  return RankOfProcess(PidIn(fields), FieldIn(fields, "ip"));
}

std::optional<int> ActorRanks::RankOfDead(const std::vector<std::string_view>& lines,
                                          size_t at) const {
  constexpr std::string_view kDied = "A worker died or was killed while executing a task";
  constexpr std::string_view kMemory = "Memory on the node (IP: ";
  const std::string_view line = lines[at];
  if (line.find(kDied) != line.npos) {
    const std::string_view type = WordBehind(line, "Worker exit type: ");
    if (type.empty() || type.starts_with("INTENDED_")) return std::nullopt;
    return RankOfProcess(PidOf(WordBehind(line, "Worker PID: ")),
                         WordBehind(line, "Worker IP address: "));
  }
  if (const size_t memory = line.find(kMemory); memory != line.npos) {
    const size_t task = line.find(" where the ", memory);
    if (task == line.npos) return std::nullopt;
    const std::string_view address = line.substr(memory + kMemory.size());
    return RankOfProcess(PidIn(line.substr(task)), address.substr(0, address.find_first_of(",) ")));
  }
  if (!line.ends_with("The actor died unexpectedly before finishing this task.")) {
    return std::nullopt;
  }
  const DeadActor dead = ReadDeadActor(lines, at);
  if (dead.type.find("TrainWorker") == dead.type.npos) return std::nullopt;
  if (dead.did_node_die && !IsAloneOnNode(dead.address)) return std::nullopt;
  return RankOfProcess(PidOf(dead.pid), dead.address);
}

bool ActorRanks::IsAloneOnNode(std::string_view address) const {
  return std::count_if(workers_.begin(), workers_.end(), [address](const auto& worker) {
           return worker.first.first == address;
         }) == 1;
}

std::optional<int> ActorRanks::RankOfProcess(std::optional<int> pid,
                                             std::string_view address) const {
  if (!pid) return std::nullopt;
  std::set<std::optional<int>> ranks;
  for (const auto& [process, rank] : workers_) {
    if (process.second == pid && (address.empty() || process.first == address)) ranks.insert(rank);
  }
  return ranks.size() == 1 ? *ranks.begin() : std::nullopt;
}

}  // namespace answers
