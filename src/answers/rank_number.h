// A rank's number in a text of others.
#pragma once

#include <optional>
#include <string_view>

#include "base/strings.h"

namespace answers {

// Nullopt for text that is not a number, or one greater than any rank's. Pure.
inline std::optional<int> RankNumber(std::string_view digits) {
  constexpr int kMostRanks = 100'000;
  const auto number = base::ParseInt(digits);
  const bool is_rank = number && *number >= 0 && *number < kMostRanks;
  return is_rank ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

}  // namespace answers
