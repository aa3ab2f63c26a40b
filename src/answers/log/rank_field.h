// The rank as a field of a program's own records, "2026-03-02 10:11:04 | ERROR | rank=3 | failed".
#pragma once

#include <vector>

#include "answers/log/log_line.h"

namespace answers {

// Gives records of loggers, and the traceback below a record, the rank that is a field of it:
// "rank=3", "rank: 3", "[rank 3]", "(rank3)", "| rank 3 |", "\"rank\": 3" of JSON, SGLang's
// "[TIME TP3]" and, where most records have it in one place and it is no counter, "[6/8]", "R6" and
// "gpu 6". A number is a field if most records have one, in the same place or nearly all of them;
// "rank=16" of a few messages is not. Lines that have a rank keep it; if a record's field differs
// from that, or if two pods or nodes have the same number, no field is one.
void TakeRankFields(std::vector<LogLine>& lines);

}  // namespace answers
