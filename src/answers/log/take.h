// Takes parts off the beginning of a text.
#pragma once

#include <string_view>

namespace answers {

// Removes the prefix; false if the text does not begin with it.
inline bool Take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

}  // namespace answers
