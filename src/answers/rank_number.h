// A rank's number within a text.
#pragma once

#include <optional>
#include <string_view>

#include "base/strings.h"

namespace answers {

inline constexpr std::string_view kDigits = "0123456789";

// Nullopt for text that is not a number, and for a number that is too large for a rank. Pure.
inline std::optional<int> RankNumber(std::string_view digits) {
  constexpr int kMostRanks = 100'000;
  const auto number = base::ParseInt(digits);
  const bool is_rank = number && *number >= 0 && *number < kMostRanks;
  return is_rank ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

// The same of text that has digits only, not "+3". Pure.
inline std::optional<int> RankOfDigits(std::string_view text) {
  const bool is_number = !text.empty() && text.find_first_not_of(kDigits) == std::string_view::npos;
  return is_number ? RankNumber(text) : std::nullopt;
}

}  // namespace answers
