// Who failed first, by the claim that is believed.
#pragma once

#include <vector>

#include "answers/cause/claim.h"
#include "answers/cause/root_claim.h"
#include "answers/evidence.h"
#include "answers/verdict.h"

namespace answers {

// Begins with the rank of the verdict, which is that of the claim; a line that is of no rank, or of
// several, may be about another one, or about none that is known.
void NameFailedRank(Verdict& verdict, const Evidence& evidence, const std::vector<Claim>& claims,
                    const RootClaim& found);

}  // namespace answers
