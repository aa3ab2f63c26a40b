// Turns logs of the job's launchers into evidence.
#pragma once

#include <string_view>
#include <vector>

#include "answers/evidence.h"
#include "answers/files/log_file.h"

namespace answers {

// The lines of a text without their stamps and prefixes, at most the last `limit` of them. A line
// over 4 KiB is cut.
std::vector<Line> ReadLines(std::string_view text, size_t limit);

// A Rank for each rank that the lines' prefixes, or the files' names ("rank_3.log", torchrun's
// "attempt_0/3/stderr.log"), name; lines without a prefix belong to a Rank for their file.
// torchrun's table of failures gives exit codes, hosts and the first failure. An error file
// (error_file.h) gives a rank's exception and its time; if the rank's log has the same exception,
// only the time. Lines from the machine (witness_line.h) are the witnesses of their Rank.
Evidence ReadLogs(const std::vector<LogFile>& files);

}  // namespace answers
