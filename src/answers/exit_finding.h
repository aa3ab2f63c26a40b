// What is asked last about a rank that failed: how it ended, and what its machine reported.
#pragma once

#include <optional>

#include "answers/finding.h"

namespace answers {

constexpr int kSignalBase = 128;  // of a shell: 128 + the signal

// How it ended: its exit code, or 128 + the signal that a shell reports at the end of its log.
// nullopt if neither is known.
std::optional<int> ExitOf(const Rank& rank);

// Judges the rank by that end alone.
Finding FindInExit(const Rank& rank);

// What the machine reported decides where the program's own words do not: a data loader's worker
// that was killed does not know by whom.
void AskWitnesses(const Rank& rank, Finding& found);

// Whether what the machine reports could decide, because the program's own words do not: it was
// killed, or a part of it was, or a device or file failed it.
bool WouldWitnessesDecide(const Rank& rank);

}  // namespace answers
