#include "answers/log/pods/pod_ranks.h"

#include <algorithm>

#include "answers/log/pods/cluster_words.h"

namespace answers {
namespace {

// The name of the instance for which a Job's controller has made a pod of this name; "" if it
// makes no such names.
std::string_view InstanceOf(std::string_view pod) {
  constexpr size_t kSuffix = 6;  // "-x7f2k"
  if (pod.size() < kSuffix || pod[pod.size() - kSuffix] != '-') return "";
  return pod.substr(0, pod.size() - kSuffix);
}

}  // namespace

std::string_view NameOfLog(std::string_view name) {
  name.remove_prefix(name.rfind('/') + 1);  // 0 if there is none
  if (name.ends_with(".log") || name.ends_with(".txt")) name.remove_suffix(4);
  return name;
}

std::string_view JobOfPod(std::string_view name) {
  name = NameOfLog(name);
  size_t end = 0;
  for (const std::string_view role : {"-master-", "-worker-", "-launcher-", "-node-"}) {
    const size_t at = name.rfind(role);
    if (at != name.npos) end = std::max(end, at);
  }
  return name.substr(0, end);
}

void PodRanks::Add(const std::vector<std::string_view>& lines,
                   const std::vector<DescribedPod>& pods) {
  for (auto& [pod, node] : ReadPlaces(lines)) places_[node].insert(pod);
  for (const DescribedPod& pod : pods) {
    if (!pod.node.empty()) places_[pod.node].insert(pod.name);
    if (pod.rank || pod.may_have_several) described_[pod.name] = pod.rank;
  }
}

std::optional<int> PodRanks::RankByName(std::string_view pod) const {
  if (of_job_.has_launcher) return std::nullopt;
  if (const auto rank = RankOfNode(pod)) return rank;
  return of_job_.has_master ? RankOfPod(pod, true) : std::nullopt;
}

std::optional<int> PodRanks::RankOf(std::string_view pod, const RanksOfLogs& logs) const {
  const auto described = described_.find(pod);
  if (described != described_.end()) return described->second;
  std::set<std::optional<int>> found;
  for (const std::string_view name : {pod, InstanceOf(pod)}) {
    const auto log = name.empty() ? logs.end() : logs.find(name);
    if (log != logs.end()) found.insert(log->second.begin(), log->second.end());
  }
  if (found.empty() && are_names_ranks_ && jobs_.contains(JobOfPod(pod))) return RankByName(pod);
  return found.size() == 1 ? *found.begin() : std::nullopt;
}

std::optional<int> PodRanks::OnlyRankAt(const std::set<std::string>& pods,
                                        const RanksOfLogs& logs) const {
  std::set<int> found;
  for (const std::string& pod : pods) {
    if (const auto rank = RankOf(pod, logs)) found.insert(*rank);
  }
  return found.size() == 1 ? std::optional(*found.begin()) : std::nullopt;
}

void PodRanks::NameRanksOf(Evidence& evidence, const KubeflowPods& of_job) {
  of_job_ = of_job;
  RanksOfLogs logs;
  for (const Rank& rank : evidence.ranks) logs[NameOfLog(rank.name)].insert(rank.rank);
  size_t named = 0, agreeing = 0;
  for (const auto& [name, ranks] : logs) {
    const auto rank = RankByName(name);
    named += rank.has_value();
    if (rank) jobs_.insert(JobOfPod(name));
    agreeing += rank && ranks == std::set{rank};
  }
  are_names_ranks_ = named > 0 && agreeing == named;
  std::map<std::string_view, std::optional<int>> of_nodes;
  for (const auto& [node, pods] : places_) of_nodes[node] = OnlyRankAt(pods, logs);
  for (Event& event : evidence.events) {
    const std::string_view object = event.object;
    for (const std::string_view kind : {"pod ", "pod/"}) {
      if (!event.index && object.starts_with(kind)) {
        event.index = RankOf(object.substr(kind.size()), logs);
      }
    }
    const auto there = of_nodes.find(NodeOf(event));
    if (there != of_nodes.end() && there->second) event.index = there->second;
  }
}

}  // namespace answers
