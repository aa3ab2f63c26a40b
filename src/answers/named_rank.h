// The rank that the others' reports name: the one whose call differs from all others', or that has
// not come to a call.
#pragma once

#include <optional>

#include "answers/evidence.h"

namespace answers {

// From torch's "Detected mismatch between collectives on ranks. Rank 4 is running collective: ...,
// but Rank 7 is running collective: ...". Nullopt if the reports name several ranks, or if more
// than half of the ranks may agree with the one that they name. Pure.
std::optional<int> OddInMismatch(const Evidence& evidence);

// The only one below "Missing ranks:" in the last report of Horovod's stall inspector or, if it
// marks ranks, the only one of these. Pure.
std::optional<int> MissingOfHorovod(const Evidence& evidence);

}  // namespace answers
