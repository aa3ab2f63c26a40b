// Texts as Python has them: sequences of code points.
#pragma once

#include <string>
#include <string_view>

namespace ads {

// What is not UTF-8 becomes U+FFFD.
std::u32string DecodeUtf8(std::string_view text);

// repr() of a str: single quotes unless it holds those and no double ones; what does not print is
// escaped. Code points that Unicode has not assigned count as printing, unlike Python's.
std::string PyTextRepr(std::string_view text);

// text.strip(): without Unicode's white space at both ends.
std::string_view PyStrip(std::string_view text);

}  // namespace ads
