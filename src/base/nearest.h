// Suggestions for misspelt names.
#pragma once

#include <string_view>
#include <vector>

namespace base {

// The name that a misspelt `word` most likely meant: the first one with the fewest edits; "" when
// none is near. Case does not matter. A difference in dashes and underscores only counts as no
// edit, and a name that begins with `word`, or that `word` begins with, counts as one edit. `most`
// is the number of edits that still count as near; 0 means 2, or more for long words.
std::string_view Nearest(std::string_view word, const std::vector<std::string_view>& names,
                         size_t most = 0);

}  // namespace base
