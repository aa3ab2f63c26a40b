#include "text/lenient_json.h"

#include <algorithm>
#include <string>

#include "base/strings.h"
#include "base/utf8.h"

namespace text {
namespace {

// Replaces each escape \uD800 to \uDFFF that is not half of a pair by \ufffd.
std::string WithoutLoneSurrogates(std::string_view text) {
  constexpr size_t kEscape = 6;  // "\\ud800"
  const auto surrogate = [text](size_t at, const char* thirds) {
    const std::string escape = base::ToLower(text.substr(std::min(at, text.size()), kEscape));
    return escape.size() == kEscape && escape.starts_with("\\ud") &&
           std::string_view(thirds).find(escape[3]) != std::string_view::npos &&
           escape.find_first_not_of("0123456789abcdef", 4) == std::string::npos;
  };
  std::string out;
  size_t at = 0;
  for (size_t escape = 0; (escape = text.find('\\', at)) != std::string_view::npos;) {
    const bool is_pair = surrogate(escape, "89ab") && surrogate(escape + kEscape, "cdef");
    const bool is_lone = !is_pair && surrogate(escape, "89abcdef");
    out += text.substr(at, escape - at);
    at = std::min(text.size(), escape + (is_pair ? 2 * kEscape : is_lone ? kEscape : 2));
    out += is_lone ? "\\ufffd" : text.substr(escape, at - escape);
  }
  out += text.substr(at);
  return out;
}

// Replaces what Python writes for numbers that JSON lacks by null.
std::string WithoutNonNumbers(std::string_view text) {
  std::string out;
  bool is_in_string = false;
  while (!text.empty()) {
    size_t count = 1;
    std::string_view put = text.substr(0, 1);
    if (is_in_string && text[0] == '\\') {
      put = text.substr(0, 2);
      count = put.size();
    } else if (text[0] == '"') {
      is_in_string = !is_in_string;
    } else if (!is_in_string) {
      for (const std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
        if (!text.starts_with(word)) continue;
        put = "null";
        count = word.size();
      }
    }
    out += put;
    text.remove_prefix(count);
  }
  return out;
}

}  // namespace

base::Result<Json> ParseJsonLeniently(std::string_view text) {
  return ParseJson(WithoutNonNumbers(WithoutLoneSurrogates(base::ToValidUtf8(text))));
}

}  // namespace text
