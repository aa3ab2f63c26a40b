// UTF-8 as Unicode defines it: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <string>
#include <string_view>

namespace text {

// Length of the sequence of one to four bytes that `at` begins with; 0 when it is not one.
size_t Utf8Length(std::string_view at);

bool IsUtf8(std::string_view text);

// The text with each byte that belongs to no sequence replaced by U+FFFD, as Go's encoding/json.
std::string ToValidUtf8(std::string_view text);

// Whether NEL, LS, PS or BOM is in the text: YAML takes them for line ends or drops them.
bool HasUnicodeBreak(std::string_view text);

}  // namespace text
