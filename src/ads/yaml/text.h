// Texts as in Python: sequences of code points.
#pragma once

#include <string>
#include <string_view>

namespace ads {

// Bytes that are not UTF-8 become U+FFFD.
std::u32string DecodeUtf8(std::string_view text);

// repr() of a str: in single quotes unless it contains those and no double quotes; unprintable
// characters are escaped. Unassigned code points count as printable, unlike in Python.
std::string PyTextRepr(std::string_view text);

// text.strip(): without Unicode's white space at both ends.
std::string_view PyStrip(std::string_view text);

}  // namespace ads
