// The times, ranks and tasks that launchers and loggers put before a line, one by one.
#pragma once

#include <optional>
#include <string_view>

#include "answers/log/log_line.h"

namespace answers {

// Takes a number of at most four digits.
std::optional<int> TakeNumber(std::string_view& text);

// Each takes one prefix from the line's text, and keeps what it says. False, and the line is as it
// was, if the text does not begin with one. Pure.
bool TakeTime(LogLine& line);  // "2026-03-02T10:11:04.123Z stderr F "
bool TakeOwnTime(LogLine& line);
bool TakeSyslog(LogLine& line);
bool TakeRank(LogLine& line);
bool TakeMpi(LogLine& line);
bool TakeMvapich(LogLine& line);
bool TakeTask(LogLine& line);

// The line behind its times.
LogLine ReadStamps(std::string_view text);

}  // namespace answers
