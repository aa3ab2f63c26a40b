// What single lines of a rank's log say about why it failed: of programs that print no exception,
// of schedulers, kernels and NCCL.
#pragma once

#include <optional>

#include "answers/finding.h"
#include "answers/finding/rank_log.h"

namespace answers {

// The best of the lines before `end`.
std::optional<Finding> FindInLines(const RankLog& log, size_t end);

// The kernel may kill one process of several, and the others may go on for a while.
std::optional<Finding> FindPassedByKernel(const RankLog& log);

// The same of what NCCL reports.
std::optional<Finding> FindPassedByNccl(const RankLog& log);

}  // namespace answers
