#include "answers/log/pod_ranks.h"

#include "answers/log/cluster_words.h"

namespace answers {
namespace {

// Whether a Job's controller makes pods of this name for the instance of the other.
bool IsPodOf(std::string_view pod, std::string_view instance) {
  constexpr size_t kSuffix = 6;  // "-x7f2k"
  if (!pod.starts_with(instance)) return false;
  const std::string_view behind = pod.substr(instance.size());
  return behind.empty() || (behind.size() == kSuffix && behind[0] == '-');
}

}  // namespace

void PodRanks::Add(const std::vector<std::string_view>& lines,
                   const std::vector<DescribedPod>& pods) {
  for (auto& [pod, node] : ReadPlaces(lines)) places_[node].insert(pod);
  for (const DescribedPod& pod : pods) {
    if (!pod.node.empty()) places_[pod.node].insert(pod.name);
    if (pod.rank || pod.may_have_several) described_[pod.name] = pod.rank;
  }
}

std::optional<int> PodRanks::RankOf(std::string_view pod, const std::vector<Rank>& ranks) const {
  const auto described = described_.find(pod);
  if (described != described_.end()) return described->second;
  std::set<std::optional<int>> found;
  for (const Rank& rank : ranks) {
    std::string_view name = rank.name;
    name.remove_prefix(name.rfind('/') + 1);  // 0 if there is none
    if (name.ends_with(".log") || name.ends_with(".txt")) name.remove_suffix(4);
    if (IsPodOf(pod, name)) found.insert(rank.rank);
  }
  return found.size() == 1 ? *found.begin() : std::nullopt;
}

void PodRanks::NameRanksOf(Evidence& evidence) const {
  for (Event& event : evidence.events) {
    const std::string_view object = event.object;
    for (const std::string_view kind : {"pod ", "pod/"}) {
      if (!event.index && object.starts_with(kind)) {
        event.index = RankOf(object.substr(kind.size()), evidence.ranks);
      }
    }
    const auto there = places_.find(NodeOf(event));
    if (there == places_.end()) continue;
    std::set<int> found;
    for (const std::string& pod : there->second) {
      if (const auto rank = RankOf(pod, evidence.ranks)) found.insert(*rank);
    }
    if (found.size() == 1) event.index = *found.begin();
  }
}

}  // namespace answers
