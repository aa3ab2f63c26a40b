#include "base/utf8.h"

namespace base {

size_t Utf8Length(std::string_view at) {
  const auto byte = [at](size_t i) {
    return i < at.size() ? static_cast<unsigned char>(at[i]) : 0U;
  };
  const auto continues = [&byte](size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return at.empty() ? 0 : 1;
  if (lead >= 0xC2 && lead <= 0xDF) return continues(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    if (!continues(1) || !continues(2)) return 0;
    if (lead == 0xE0 && byte(1) < 0xA0) return 0;  // overlong
    if (lead == 0xED && byte(1) > 0x9F) return 0;  // surrogate
    return 3;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if (!continues(1) || !continues(2) || !continues(3)) return 0;
    if (lead == 0xF0 && byte(1) < 0x90) return 0;  // overlong
    if (lead == 0xF4 && byte(1) > 0x8F) return 0;  // above U+10FFFF
    return 4;
  }
  return 0;
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string ToValidUtf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    if (length == 0) {
      valid += "\xEF\xBF\xBD";
      text.remove_prefix(1);
    } else {
      valid += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return valid;
}

std::string FromMarkedUtf16(std::string text) {
  const bool is_big = text.starts_with("\xFE\xFF");
  if (!is_big && !text.starts_with("\xFF\xFE")) return text;
  const auto unit = [&text, is_big](size_t at) -> char32_t {
    if (at + 1 >= text.size()) return 0;
    const auto first = static_cast<unsigned char>(text[at]);
    const auto second = static_cast<unsigned char>(text[at + 1]);
    return is_big ? first << 8U | second : second << 8U | first;
  };
  std::string converted;
  converted.reserve(text.size() / 2);
  for (size_t at = 2; at + 1 < text.size(); at += 2) {
    char32_t point = unit(at);
    const char32_t next = unit(at + 2);
    if (point >= 0xD800 && point < 0xDC00 && next >= 0xDC00 && next < 0xE000) {
      point = 0x10000 + ((point - 0xD800) << 10U) + (next - 0xDC00);
      at += 2;
    }
    AppendUtf8(point >= 0xD800 && point < 0xE000 ? U'\uFFFD' : point, converted);
  }
  return converted;
}

void AppendUtf8(char32_t point, std::string& to) {
  const auto add = [&to](char32_t byte) { to += static_cast<char>(byte); };
  if (point < 0x80) return add(point);
  if (point < 0x800) {
    add(0xC0 | point >> 6);
  } else if (point < 0x10000) {
    add(0xE0 | point >> 12);
    add(0x80 | (point >> 6 & 0x3F));
  } else {
    add(0xF0 | point >> 18);
    add(0x80 | (point >> 12 & 0x3F));
    add(0x80 | (point >> 6 & 0x3F));
  }
  add(0x80 | (point & 0x3F));
}

}  // namespace base
