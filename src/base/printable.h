// Names of files on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace base {

// The name as it is or, if it has control characters, which a terminal would obey, as a word that
// a shell reads as the name: $'a\x1b[2Jb'. A name that is not UTF-8 is written so too.
std::string Printable(std::string_view name);

}  // namespace base
