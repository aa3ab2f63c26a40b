// What one rank's end, or the cluster, says of why the job failed.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "answers/rule.h"
#include "answers/traceback.h"

namespace answers {

struct Finding {
  std::string_view rule;  // its name; "" where none knows it
  std::string_view kind, title, advice_text;
  Advice advice = Advice::kNone;
  Level level = Level::kDeciding;
  Confidence confidence = Confidence::kHigh;
  std::string line;  // that decides it
  std::optional<base::Time> time;
  size_t order = 0;
  Frame frame;                     // the user's; views into the rank's lines
  std::vector<std::string> words;  // the traceback's end, or the lines around: evidence

  // What the rule says, and no more confidence than it allows.
  void Take(const Rule& taken);
};

// Of a rank that failed: what its status and its log decide, else how it ended. Nullopt for one
// that did not.
std::optional<Finding> FindInRank(const Rank& rank);

// Where in a log its first error is, from the first line to the one after the last: an exception
// that nothing has handled, or the line that a rule knows. Work that went on after it does not
// matter here. Nullopt when there is none.
std::optional<std::pair<size_t, size_t>> FirstError(const std::vector<Line>& lines);

// A container or process that did not end well; one whose end is not known, whose log tells an
// end by an exception, counts as failed when nobody knows better.
bool HasFailed(const Rank& rank);

// Of a status, of an event: by Kubernetes' reasons.
std::optional<Finding> FindInStatus(std::string_view reason, std::string_view message);

}  // namespace answers
