#include "base/printable.h"

#include <fmt/format.h>

#include "base/utf8.h"

namespace base {
namespace {

unsigned ByteAt(std::string_view text, size_t i) { return static_cast<unsigned char>(text[i]); }

bool IsPlain(std::string_view text) {
  while (!text.empty()) {
    const size_t length = PrintableLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace

size_t PrintableLength(std::string_view at) {
  const size_t length = Utf8Length(at);
  if (length == 1 && (ByteAt(at, 0) < 0x20 || ByteAt(at, 0) == 0x7f)) return 0;
  // U+0080 to U+009F, which some terminals obey.
  if (length == 2 && ByteAt(at, 0) == 0xc2 && ByteAt(at, 1) < 0xa0) return 0;
  return length;
}

std::string Printable(std::string_view name) {
  if (IsPlain(name)) return std::string(name);
  std::string word = "$'";
  for (const char c : name) {
    if (c == '\'' || c == '\\') {
      word += '\\';
      word += c;
    } else if (PrintableLength({&c, 1}) == 0) {
      word += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      word += c;
    }
  }
  return word + "'";
}

}  // namespace base
