#include "answers/log/node_task.h"

#include <fmt/format.h>

#include <algorithm>

namespace answers {
namespace {

constexpr std::string_view kTask = "task ";

bool IsOfSeveral(const LogLine& line) {
  const bool is_other = line.rank && !line.is_rank_of_task && line.rank != line.task;
  return line.task && (is_other || line.local_rank.value_or(0) > 0);
}

}  // namespace

void TakeNodeTasks(std::vector<LogLine>& lines) {
  if (std::none_of(lines.begin(), lines.end(), IsOfSeveral)) return;
  for (LogLine& line : lines) {
    if (!line.task) continue;
    if (line.is_rank_of_task) line.rank.reset();
    // The step's daemon speaks about all tasks.
    const bool is_daemons = line.text.starts_with("slurmstepd: error: *** ");
    if (line.pod.empty() && !is_daemons) line.pod = fmt::format("{}{}", kTask, *line.task);
  }
}

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
