#include "base/printable.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"

namespace base {
namespace {

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// The control characters of Unicode above those of ASCII, which some terminals obey: U+0080 to
// U+009F.
bool HasHighControl(std::string_view text) {
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    const auto next = static_cast<unsigned char>(text[i + 1]);
    if (text[i] == '\xc2' && next >= 0x80 && next < 0xa0) return true;
  }
  return false;
}

}  // namespace

std::string Printable(std::string_view name) {
  const bool is_plain = std::none_of(name.begin(), name.end(), IsControl);
  if (is_plain && IsUtf8(name) && !HasHighControl(name)) return std::string(name);
  std::string word = "$'";
  for (const char c : name) {
    if (c == '\'' || c == '\\') {
      word += '\\';
      word += c;
    } else if (IsControl(c) || static_cast<unsigned char>(c) >= 0x80) {
      word += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      word += c;
    }
  }
  return word + "'";
}

}  // namespace base
