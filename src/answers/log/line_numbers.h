// Numbers of lines, which look like the ranks that `srun -l` prints.
#pragma once

#include <string_view>
#include <vector>

namespace answers {

// Removes the numbers that `grep -n`, `cat -n` or `less -N` have put before the lines, and numbers
// of a program's list that only look like ranks. Numbers of lines rise, and each is used once,
// while several lines of a rank have its number. Pure.
void TakeLineNumbers(std::vector<std::string_view>& lines);

// Whether it begins with a time of day, "10:11:04,123" or "9:11:04: ", and not with a line's number
// and such a time, "10:11:04:12".
bool IsClock(std::string_view text);

}  // namespace answers
