#pragma once

#include <algorithm>
#include <span>
#include <string_view>

namespace answers {

inline bool HasAny(std::string_view text, std::span<const std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [text](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  });
}

}  // namespace answers
