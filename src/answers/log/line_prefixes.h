// The times, ranks and tasks that launchers and loggers put before a line, one by one.
#pragma once

#include <optional>
#include <string_view>

#include "answers/log/log_line.h"

namespace answers {

inline constexpr std::string_view kHostCharacters = "abcdefghijklmnopqrstuvwxyz0123456789.-";

// Whether a host may be named like this: with a letter and a digit, or "localhost". Pure.
bool IsHost(std::string_view name);

// Takes a number of at most four digits.
std::optional<int> TakeNumber(std::string_view& text);

// Each takes one prefix from the line's text, and keeps what it says. False, and the line is as it
// was, if the text does not begin with one. Pure.
bool TakeTime(LogLine& line);  // "2026-03-02T10:11:04.123Z stderr F "
bool TakeOwnTime(LogLine& line);
bool TakeSyslog(LogLine& line);
// "gpu-02 train[4201]: " in `text`, what is left of the line; without "[4201]" only if none is
// needed.
bool TakeProgram(LogLine& line, std::string_view text, bool needs_pid);
bool TakeRank(LogLine& line);
bool TakeMpi(LogLine& line);
bool TakeMvapich(LogLine& line);
bool TakeTask(LogLine& line);

// The line behind its times.
LogLine ReadStamps(std::string_view text);

}  // namespace answers
