#include "answers/files/file.h"

#include <algorithm>

#include "answers/log/node_task.h"
#include "answers/peers/watchdog.h"

namespace answers {
namespace {

// Whether torchrun says that it starts several processes: it warns then of OMP_NUM_THREADS
// (torch/distributed/run.py), and its agent lists their local ranks.
bool HasSeveralOfTorchrun(std::string_view line) {
  constexpr std::string_view kWarning = "Setting OMP_NUM_THREADS environment variable for each ";
  constexpr std::string_view kList = "local_ranks=[";
  if (line.find(kWarning) != line.npos) return line.find("UserWarning") == line.npos;
  const size_t list = line.find(kList);
  return list != line.npos && line.substr(list, line.find(']', list) - list).find(',') != line.npos;
}

}  // namespace

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
    const bool has_several = (nccl && nccl->device > 0) || HasSeveralOfTorchrun(split.line.text);
    if (has_several) pods.insert(split.pod);
  }
  return pods;
}

}  // namespace answers
