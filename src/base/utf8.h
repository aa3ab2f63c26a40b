// UTF-8 as Unicode defines it: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <string>
#include <string_view>

namespace base {

// Length of the sequence of one to four bytes at the start of `at`; 0 when it is invalid.
size_t Utf8Length(std::string_view at);

bool IsUtf8(std::string_view text);

// The text with each byte that belongs to no valid sequence replaced by U+FFFD, as in Go's
// encoding/json.
std::string ToValidUtf8(std::string_view text);

// The text in UTF-8 if it begins with the byte order mark of UTF-16, as in files into which Windows
// PowerShell has redirected output; otherwise the text itself. Lone surrogates become U+FFFD.
std::string FromMarkedUtf16(std::string text);

// The code point in UTF-8. At most U+10FFFF.
void AppendUtf8(char32_t point, std::string& to);

}  // namespace base
