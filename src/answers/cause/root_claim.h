// Which of all claims is believed.
#pragma once

#include <vector>

#include "answers/cause/claim.h"
#include "answers/evidence.h"

namespace answers {

// References into the claims, which are often the same.
struct RootClaim {
  const Claim& of_rank;  // says who failed
  const Claim& raised;   // what was raised there, which may only repeat what another rank raised
  const Claim& root;     // says why
};

// Whether `a` is believed rather than `b`. Pure.
bool ComesBefore(const Evidence& evidence, const Claim& a, const Claim& b);

// `claims` must not be empty. Pure.
RootClaim FindRoot(const Evidence& evidence, const std::vector<Claim>& claims);

}  // namespace answers
