#pragma once

#include <optional>

#include "answers/verdict.h"

namespace answers {

inline std::optional<int> RankNamedIn(const Evidence& evidence) {
  const Verdict verdict = Explain(evidence);
  return verdict.rank ? evidence.ranks[*verdict.rank].rank : std::nullopt;
}

}  // namespace answers
