#include "base/nearest.h"

#include <algorithm>
#include <string>

#include "base/strings.h"

namespace base {

std::string_view Nearest(std::string_view word, const std::vector<std::string_view>& names,
                         size_t most) {
  constexpr size_t kShortest = 3;
  const auto bare = [](std::string text) {
    std::erase_if(text, [](char c) { return c == '-' || c == '_'; });
    return text;
  };
  const std::string asked = ToLower(word);
  size_t least = (most != 0 ? most : std::max<size_t>(2, asked.size() / 4)) + 1;
  std::string_view nearest;
  for (const std::string_view name : names) {
    const std::string candidate = ToLower(name);
    const bool is_begun = asked.size() >= kShortest && candidate.starts_with(asked);
    const bool goes_on = candidate.size() > kShortest && asked.starts_with(candidate);
    size_t edits = EditDistance(asked, candidate);
    if (is_begun || goes_on) edits = std::min<size_t>(edits, 1);
    if (bare(asked) == bare(candidate)) edits = 0;
    if (edits >= least || edits >= candidate.size()) continue;
    least = edits;
    nearest = name;
  }
  return nearest;
}

}  // namespace base
