// Gives lines the times of programs' own timestamps where nothing that carried them added any.
#pragma once

#include <vector>

#include "answers/files/file.h"

namespace answers {

// Which of the programs' own timestamps give the lines their times, if nothing that carried the
// lines added times.
enum class OwnClock { kNone, kDates, kDaysOfAnyYear };

// Programs' timestamps are comparable if all files have the same kind. Within one file, the order
// of the lines is better.
OwnClock ClockOf(const std::vector<File>& files);

// A line without a timestamp gets the time of the line before it.
void TakeOwnTimes(File& file, OwnClock clock);

}  // namespace answers
