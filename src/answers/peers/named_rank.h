// The rank that the others' reports name: the one whose call differs from all others', or that has
// not come to a call.
#pragma once

#include <optional>
#include <string_view>

#include "answers/evidence.h"

namespace answers {

// What torch reports in one line, that two ranks differ: "Detected mismatch between collectives on
// ranks. Rank 4 is running collective: ..., but Rank 7 is running collective: ...", "DDP expects
// same model across all ranks, but Rank 4 has 62 params, while rank 7 has inconsistent 60 params."
// or "Forward order differs across ranks: rank 0 is all-gathering 2 parameters while rank 7 ...".
struct Mismatch {
  int by = 0, named = 0;
  bool is_speakers = true;  // `by` is the rank that prints it
};

// Nullopt for another line. Pure.
std::optional<Mismatch> ReadMismatch(std::string_view line);

// Whether the line is one of these, even if it is cut before the second rank. Pure.
bool BeginsMismatch(std::string_view line);

// From all such lines. Nullopt if they name several ranks, if more than half of the ranks may agree
// with the one that they name, or if there is one report alone and the job may have more ranks than
// the evidence. Pure.
std::optional<int> OddInMismatch(const Evidence& evidence);

// The only one below "Missing ranks:" in the last report of Horovod's stall inspector or, if it
// marks ranks, the only one of these. Pure.
std::optional<int> MissingOfHorovod(const Evidence& evidence);

}  // namespace answers
