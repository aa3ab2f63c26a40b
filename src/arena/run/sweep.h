// Sweeps: one command with many values (run --sweep). Pure but for the files that are named.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "text/json.h"

namespace arena {

// A trial's values, in the order in which they were given.
using TrialValues = std::vector<std::pair<std::string, std::string>>;

struct Trial {
  int64_t index = 0;
  TrialValues values;
  std::string command;  // for a shell
};

// Not more without --large.
inline constexpr size_t kMaxTrials = 10'000;

// Of `lr=0.1,0.01`, `seed=1..3` (whole numbers, both ends) and `@FILE` (a JSON object a line): the
// product of the first two kinds, for each line of the files. kInvalidArgument names the flag's
// value; kExhausted: more than `max` (0 is none).
base::Result<std::vector<TrialValues>> ReadSweep(const std::vector<std::string>& sweeps,
                                                 size_t max);

// `{name}` in the words becomes the trial's value. kInvalidArgument when no sweep has the name;
// braces that hold anything but a plain name stay.
base::Result<std::vector<std::string>> Substituted(const std::vector<std::string>& words,
                                                   const TrialValues& values);

// "lr=0.1 seed=2"
std::string TrialLabel(const TrialValues& values);

// sweep.jsonl, a trial a line.
std::string ToText(const std::vector<Trial>& trials);
base::Result<std::vector<Trial>> ParseTrials(std::string_view text);

// What became of a trial: a line of trials.jsonl.
struct TrialResult {
  int64_t index = 0;
  int exit_code = 0;               // 128 + n when signal n ended it
  int64_t started = 0, ended = 0;  // milliseconds since the epoch
  std::string last_line;
  std::map<std::string, double> metrics;  // the last value of each
};
std::string ToLine(const TrialResult& result);
// A line that was cut short by a crash, and what is none, is left out. Of two of one trial the
// last.
std::map<int64_t, TrialResult> ParseResults(std::string_view text);

}  // namespace arena
