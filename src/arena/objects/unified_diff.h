// The differences of two texts as `diff -u` prints them. Pure.
#pragma once

#include <string>
#include <string_view>

namespace arena {

// "" when the texts are the same; else hunks with three lines of context under the two names. The
// fewest changed lines, unless there are thousands of them: then what lies between the first and
// the last difference is replaced as a whole.
std::string UnifiedDiff(std::string_view from, std::string_view to, std::string_view from_name,
                        std::string_view to_name);

}  // namespace arena
