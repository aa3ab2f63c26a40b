// Suggestions for misspelt names.
#pragma once

#include <string_view>
#include <vector>

namespace base {

// The name that a misspelt `word` most likely meant: the first one with the fewest edits; "" when
// none is near. Upper case equals lower case. A name that differs only by dashes and underscores
// counts as no edit, and one that `word` begins or continues as one. `most` is the number of edits
// that still count as near; 0 means 2, or more for long words.
std::string_view Nearest(std::string_view word, const std::vector<std::string_view>& names,
                         size_t most = 0);

}  // namespace base
