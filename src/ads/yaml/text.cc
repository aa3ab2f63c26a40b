#include "ads/yaml/text.h"

#include <fmt/format.h>

#include <utility>

namespace ads {
namespace {

// Unicode's Cc, Cf, Co, Zl, Zp and Zs except for the space: not printable for str.isprintable().
constexpr std::pair<char32_t, char32_t> kUnprintable[] = {
    {0x00, 0x1F},       {0x7F, 0xA0},       {0xAD, 0xAD},        {0x600, 0x605},
    {0x61C, 0x61C},     {0x6DD, 0x6DD},     {0x70F, 0x70F},      {0x890, 0x891},
    {0x8E2, 0x8E2},     {0x1680, 0x1680},   {0x180E, 0x180E},    {0x2000, 0x200F},
    {0x2028, 0x202F},   {0x205F, 0x206F},   {0x3000, 0x3000},    {0xE000, 0xF8FF},
    {0xFEFF, 0xFEFF},   {0xFFF0, 0xFFFB},   {0xFFFE, 0xFFFF},    {0x110BD, 0x110BD},
    {0x110CD, 0x110CD}, {0x13430, 0x13438}, {0x1BCA0, 0x1BCA3},  {0x1D173, 0x1D17A},
    {0xE0001, 0xE0001}, {0xE0020, 0xE007F}, {0xF0000, 0x10FFFF},
};

bool IsPrintable(char32_t c) {
  for (const auto& [first, last] : kUnprintable) {
    if (c >= first && c <= last) return false;
  }
  return true;
}

// str.isspace().
bool IsPySpace(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

// The code point at `at` and its size in bytes.
std::pair<char32_t, size_t> PointAt(std::string_view text, size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  const size_t size = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : 4;
  char32_t point = size == 1 ? first : first & (0xFF >> (size + 1));
  bool is_valid = at + size <= text.size() && (size == 1 || first >= 0xC0);
  for (size_t k = 1; is_valid && k < size; ++k) {
    const auto next = static_cast<unsigned char>(text[at + k]);
    is_valid = next >> 6 == 2;
    point = point << 6 | (next & 0x3F);
  }
  return is_valid ? std::pair(point, size) : std::pair(U'\uFFFD', size_t{1});
}

}  // namespace

std::u32string DecodeUtf8(std::string_view text) {
  std::u32string out;
  for (size_t at = 0; at < text.size();) {
    const auto [point, size] = PointAt(text, at);
    out += point;
    at += size;
  }
  return out;
}

std::string PyTextRepr(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const bool has_double = text.find('"') != std::string_view::npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  std::string out(1, quote);
  for (size_t at = 0; at < text.size();) {
    const auto [point, size] = PointAt(text, at);
    const auto number = static_cast<uint32_t>(point);
    if (text[at] == quote || point == '\\') {
      out += {'\\', text[at]};
    } else if (point == '\n') {
      out += "\\n";
    } else if (point == '\r') {
      out += "\\r";
    } else if (point == '\t') {
      out += "\\t";
    } else if (IsPrintable(point)) {
      out += text.substr(at, size);
    } else {
      out += number <= 0xFF     ? fmt::format("\\x{:02x}", number)
             : number <= 0xFFFF ? fmt::format("\\u{:04x}", number)
                                : fmt::format("\\U{:08x}", number);
    }
    at += size;
  }
  return out + quote;
}

std::string_view PyStrip(std::string_view text) {
  while (!text.empty()) {
    const auto [point, size] = PointAt(text, 0);
    if (!IsPySpace(point)) break;
    text.remove_prefix(size);
  }
  while (!text.empty()) {
    size_t last = text.size() - 1;
    while (last > 0 && static_cast<unsigned char>(text[last]) >> 6 == 2) --last;
    if (!IsPySpace(PointAt(text, last).first)) break;
    text.remove_suffix(text.size() - last);
  }
  return text;
}

}  // namespace ads
