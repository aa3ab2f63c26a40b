// The report of a failure that `muster launch` writes: failure.json in the folder of a run's logs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answers/evidence.h"
#include "answers/log/launcher_words.h"

namespace answers {

struct FailureReport {
  int rank = 0;                   // that failed first
  int attempt = 0;                // in which it failed: those before it were started again
  std::vector<LauncherRow> rows;  // of all that failed
  std::vector<int> ended_ranks;   // by the launcher, because of that rank
  std::string why;                // what only the launcher knows: a stall, no memory; "" otherwise
  std::vector<Line> last_lines;   // the traceback, or the last lines of its stderr
};

// Whether a file of a log folder is such a report, by its name.
bool IsFailureReport(std::string_view path);

// Nullopt for another text. Pure.
std::optional<FailureReport> ReadFailureReport(std::string_view text);

}  // namespace answers
