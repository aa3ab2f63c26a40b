// The stall that a failure may have ended: somebody lost patience with a rank that kept the others
// waiting.
#pragma once

#include "answers/cause/claim.h"
#include "answers/evidence.h"
#include "answers/verdict.h"

namespace answers {

// Makes the stall, or what the ranks waited for, the verdict, if the root claim is only its end.
// False if no stall is behind it.
bool TakeStallBehind(Verdict& verdict, const Evidence& evidence, const Claim& root);

}  // namespace answers
