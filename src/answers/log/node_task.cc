#include "answers/log/node_task.h"

#include <fmt/format.h>

#include <map>
#include <set>

namespace answers {
namespace {

constexpr std::string_view kTask = "task ";

// Whether tasks have several ranks: of one task several are named, or only greater numbers than the
// tasks' own.
bool HaveSeveral(const std::vector<LogLine>& lines) {
  std::map<int, std::set<int>> ranks;
  bool is_any_greater = false;
  bool is_any_less = false;
  for (const LogLine& line : lines) {
    if (!line.task) continue;
    if (line.local_rank.value_or(0) > 0) return true;
    if (!line.rank || line.is_rank_of_task) continue;
    std::set<int>& of_task = ranks[*line.task];
    of_task.insert(*line.rank);
    if (of_task.size() > 1) return true;
    is_any_greater = is_any_greater || *line.rank > *line.task;
    is_any_less = is_any_less || *line.rank < *line.task;
  }
  return is_any_greater && !is_any_less;
}

}  // namespace

void TakeNodeTasks(std::vector<LogLine>& lines) {
  if (!HaveSeveral(lines)) return;
  for (LogLine& line : lines) {
    if (!line.task) continue;
    if (line.is_rank_of_task) line.rank.reset();
    if (line.pod.empty() && !IsOfStepDaemon(line.text))
      line.pod = fmt::format("{}{}", kTask, *line.task);
  }
}

bool IsOfStepDaemon(std::string_view text) { return text.starts_with("slurmstepd: error: *** "); }

bool IsNodeTask(std::string_view pod) { return pod.starts_with(kTask); }

std::vector<std::string_view> WithoutEndsOfTasks(std::vector<std::string_view> lines) {
  for (std::string_view& line : lines) {
    for (const std::string_view words :
         {"srun: error: ", "noticed that process rank ", "Process name:"}) {
      line = line.substr(0, line.find(words));
    }
  }
  return lines;
}

}  // namespace answers
