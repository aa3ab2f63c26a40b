#include "answers/files/file.h"

#include <algorithm>

#include "answers/log/node_task.h"
#include "answers/peers/watchdog.h"
#include "answers/program_words.h"

namespace answers {
std::vector<std::string_view> TextsOf(const std::vector<Split>& lines) {
  std::vector<std::string_view> texts;
  texts.reserve(lines.size());
  for (const Split& split : lines) texts.push_back(split.line.text);
  return texts;
}

bool HasCarriersTimes(const File& file) {
  return std::any_of(file.lines.begin(), file.lines.end(),
                     [](const Split& split) { return split.line.time.has_value(); });
}

bool AreTasksNodes(const File& file) {
  return std::any_of(file.lines.begin(), file.lines.end(),
                     [](const Split& split) { return IsNodeTask(split.pod); });
}

bool HasWatchdogs(const File& file) {
  std::set<int> ranks;
  for (const Split& split : file.lines) {
    const auto rank = split.rank ? std::nullopt : RankOfWatchdog(split.line.text);
    if (rank) ranks.insert(*rank);
  }
  return ranks.size() > 1 || (ranks.size() == 1 && file.log->name.find('.') != std::string::npos);
}

std::set<std::string_view> PodsOfSeveral(const File& file) {
  std::set<std::string_view> pods;
  for (const Split& split : file.lines) {
    if (split.pod.empty()) continue;
    const auto nccl = ReadNcclPrefix(split.line.text);
    const bool has_several = (nccl && nccl->device > 0) || StartsSeveral(split.line.text);
    if (has_several) pods.insert(split.pod);
  }
  return pods;
}

}  // namespace answers
