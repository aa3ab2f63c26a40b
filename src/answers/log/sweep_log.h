// The log of a sweep (run --sweep), to which many trials print. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "answers/log/log_line.h"

namespace answers {

// If these are the lines of a sweep that has ended with failures: keeps the lines of the first
// trial that it names, without their label, and the witnesses (witness_line.h), and returns the
// line about the trial ("lr=2 exited with code 1: ..."). Otherwise, or if that trial has printed
// nothing, keeps all lines and returns nullopt. The views remain views of the same texts.
std::optional<std::string> KeepFailedTrial(std::vector<LogLine>& lines);

}  // namespace answers
