// What a rank's log says about why it failed where nothing marks the words as an error.
#pragma once

#include <optional>

#include "answers/finding.h"
#include "answers/finding/rank_log.h"

namespace answers {

// Reads the words of an exception where nothing marks them as such: in lines that other processes
// have broken, in flattened logs, and in the C++ log of a store whose exception is cut.
std::optional<Finding> FindInLooseWords(const RankLog& log);

// Reads the program's last words about an error before it called MPI_Abort: it ends by that on
// purpose, so that they say why.
std::optional<Finding> FindBeforeMpiAbort(const RankLog& log);

}  // namespace answers
