// Sweeps: one command with many values (run --sweep). Pure, except that it reads @FILEs.
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

// The most trials without --large.
inline constexpr size_t kMaxTrials = 10'000;

// `lr=0.1,0.01` lists values, `seed=1..3` is a range of whole numbers with both ends, and `@FILE`
// has one JSON object per line. Returns every combination of the first two kinds, for each line of
// the files. kInvalidArgument names the flag's value; kExhausted: more than `max` trials (0: no
// limit).
base::Result<std::vector<TrialValues>> ReadSweep(const std::vector<std::string>& sweeps,
                                                 size_t max);

// Replaces `{name}` in the words by the trial's value. kInvalidArgument when no sweep has the name;
// braces around anything but a plain name stay.
base::Result<std::vector<std::string>> Substituted(const std::vector<std::string>& words,
                                                   const TrialValues& values);

// The first `{name}` that is an argument, or the value of one (--lr={lr}): where there is no sweep,
// it is probably meant for one. "" without.
std::string UnsweptName(const std::vector<std::string>& words);

// "lr=0.1 seed=2"
std::string TrialLabel(const TrialValues& values);

// The content of sweep.jsonl: one trial per line.
std::string ToText(const std::vector<Trial>& trials);
base::Result<std::vector<Trial>> ParseTrials(std::string_view text);

// The result of a trial: one line of trials.jsonl.
struct TrialResult {
  int64_t index = 0;
  int exit_code = 0;               // 128 + n if signal n ended it
  int64_t started = 0, ended = 0;  // milliseconds since the epoch
  std::string last_line;
  std::map<std::string, double> metrics;  // the last value of each
};
std::string ToLine(const TrialResult& result);
// Skips malformed lines, such as one that a crash cut short. The last line of a trial counts.
std::map<int64_t, TrialResult> ParseResults(std::string_view text);

}  // namespace arena
