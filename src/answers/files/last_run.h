// Logs to which several runs of a program were appended (nohup.out, a terminal's copy).
#pragma once

#include <vector>

#include "answers/log/split_lines.h"

namespace answers {

// Leaves only the lines of the last run: from the last "nohup: ignoring input" behind a run that
// ended, the last prompt with a command that starts the same script as the one before it, or
// torchrun's warning about its threads between two tables of one host. Lines of several pods are
// left as they are. Pure.
void KeepLastRun(std::vector<Split>& lines);

}  // namespace answers
