// What somebody meant who has misspelt a name.
#pragma once

#include <string_view>
#include <vector>

namespace base {

// The name that a misspelt `word` was most likely meant for, "" when none is near: the first of the
// fewest edits, case, dashes and underscores apart, where a name begun or gone on with is one edit.
// `most` is how many edits are near; 0 is 2, or more for a long word.
std::string_view Nearest(std::string_view word, const std::vector<std::string_view>& names,
                         size_t most = 0);

}  // namespace base
