// Quotes the last words of a program where no rule knows any line of it.
#pragma once

#include "answers/evidence.h"
#include "answers/verdict.h"

namespace answers {

// The last word of a program or its launcher about a failure; otherwise that of the only rank that
// wrote anything to its stderr, if each rank has its own. Leaves the verdict as it is if there is
// none.
void TakeLastTrouble(Verdict& verdict, const Evidence& evidence);

// If the launcher's words are all that is known of the verdict's rank, which must be known: what
// the common log says above them. A rank that ended by itself has mostly said more.
void TakeCommonLogsLastWords(Verdict& verdict, const Evidence& evidence);

// A program may end without a word after printing what its loss had become. This looks at the rank
// that failed first, or at the only one that printed anything.
void NoteLostLoss(Verdict& verdict, const Evidence& evidence);

}  // namespace answers
