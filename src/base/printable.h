// Text from elsewhere, such as names of files, on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace base {

// Length of the character of one to four bytes at the start of `at`; 0 when it is a control
// character (newlines and tabs too), which a terminal would obey, or not UTF-8.
size_t PrintableLength(std::string_view at);

// The name itself or, if it is not UTF-8 or has control characters, which a terminal would obey, a
// word that a shell reads as the name: $'a\x1b[2Jb'.
std::string Printable(std::string_view name);

}  // namespace base
