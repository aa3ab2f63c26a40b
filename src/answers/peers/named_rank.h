// The rank that the others' reports name: the one whose call differs from all others', or that has
// not come to a call.
#pragma once

#include <optional>
#include <string_view>

#include "answers/evidence.h"

namespace answers {

// Whether torch reports in this line that two ranks differ: "Detected mismatch between collectives
// on ranks. Rank 4 is running collective: ..., but Rank 7 is running collective: ...", "DDP expects
// same model across all ranks, but Rank 4 has 62 params, while rank 7 has inconsistent 60 params."
// or "Forward order differs across ranks: rank 0 is all-gathering 2 parameters while rank 7 ...".
bool ReportsMismatch(std::string_view line);

// From all such lines. Nullopt if they name several ranks, or if more than half of the ranks may
// agree with the one that they name. Pure.
std::optional<int> OddInMismatch(const Evidence& evidence);

// The only one below "Missing ranks:" in the last report of Horovod's stall inspector or, if it
// marks ranks, the only one of these. Pure.
std::optional<int> MissingOfHorovod(const Evidence& evidence);

}  // namespace answers
