// Tasks of srun and mpirun that are nodes: on each, a launcher has started several ranks.
#pragma once

#include <string_view>
#include <vector>

#include "answers/log/log_line.h"

namespace answers {

// Where lines behind the number of `srun -l`, or mpirun's tag, have tags of ranks within the task,
// "1: [default6]:", or of other ranks, "1: [rank14]:", the numbers are no ranks: the lines keep
// those of their tags, and their `pod` becomes the task, "task 1".
void TakeNodeTasks(std::vector<LogLine>& lines);

// Whether Slurm's daemon of a step says it: about all tasks, whichever of them it labels.
bool IsOfStepDaemon(std::string_view text);

// Whether a line's `pod` is such a task.
bool IsNodeTask(std::string_view pod);

// Without what srun and mpirun say about ends of their tasks, in the same places. Pure.
std::vector<std::string_view> WithoutEndsOfTasks(std::vector<std::string_view> lines);

}  // namespace answers
