// What the reports of several ranks say together: which of them differed, or did not come.
#pragma once

#include <vector>

#include "answers/cause/claim.h"
#include "answers/cause/root_claim.h"
#include "answers/evidence.h"
#include "answers/verdict.h"

namespace answers {

// Corrects the verdict's rank and, where the reports say more than one of them, its words.
void AskPeers(Verdict& verdict, const Evidence& evidence, const std::vector<Claim>& claims,
              const RootClaim& found);

}  // namespace answers
