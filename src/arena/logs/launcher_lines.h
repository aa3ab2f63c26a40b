// What the lines of a launcher say about the ranks of its pod. Pure.
#pragma once

#include "answers/evidence.h"

namespace arena {

// Whether the launcher's lines contain a cause: only a launcher sees that a rank ended early or
// stalled while others waited for it, and muster's own launcher reports a loss that is no longer a
// number.
bool Decides(const answers::Rank& launcher);

// Whether the log marks the lines of its ranks, so that all others are the launcher's. Without
// --tee nothing but torchrun's table names ranks, and what the first to fail has printed is among
// the others; if that one is of another node, it is in the log of that node.
bool AreMarked(const answers::Evidence& log);

// Adds what the launcher says of the rank's end, if that names an exception of the rank's that its
// own lines do not decide: its threads, or its other stream, may have printed more behind it.
void AddReport(const answers::Evidence& log, answers::Rank& rank);

}  // namespace arena
