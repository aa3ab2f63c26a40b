// The log of a sweep (run --sweep), to which many trials print. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answers/log/log_line.h"

namespace answers {

struct FailedTrial {
  std::string words;  // "lr=2 exited with code 1: ValueError: two"
  std::optional<int> exit_code;
};

// If these are the lines of a sweep that has ended with failures: keeps the lines of the first
// trial that it names, without their label, and the witnesses (witness_line.h). Otherwise keeps all
// lines and returns nullopt. The views remain views of the same texts.
std::optional<FailedTrial> KeepFailedTrial(std::vector<LogLine>& lines);
// Keeps the lines of the trial with this label ("lr=2 seed=1"), without it, and the witnesses.
void KeepTrial(std::vector<LogLine>& lines, std::string_view trial);

}  // namespace answers
