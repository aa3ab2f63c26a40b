// Logs to which several runs of a program were appended (nohup.out, a terminal's copy).
#pragma once

#include <vector>

#include "answers/log/split_lines.h"

namespace answers {

// Leaves only the lines of the last run: from the last "nohup: ignoring input" or prompt behind a
// run that ended, if the prompt's command starts the same script as the prompt before it, or
// torchrun's warning about its threads between two tables of one host. Lines of several pods are
// left as they are. Pure.
void KeepLastRun(std::vector<Split>& lines);

}  // namespace answers
