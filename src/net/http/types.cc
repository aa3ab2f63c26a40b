#include "net/http/types.h"

#include "base/strings.h"

namespace net {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool IsUnreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

// `plus_is_space`: as in a query (application/x-www-form-urlencoded).
std::optional<std::string> Decode(std::string_view text, bool plus_is_space) {
  const std::string_view special = plus_is_space ? "%+" : "%";
  size_t i = text.find_first_of(special);
  std::string decoded(text.substr(0, i));
  if (i == std::string_view::npos) return decoded;
  decoded.reserve(text.size());
  for (; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (text.size() - i < 3) return std::nullopt;
      const int high = HexDigit(text[i + 1]);
      const int low = HexDigit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      decoded += static_cast<char>(high * 16 + low);
      i += 2;
    } else if (text[i] == '+' && plus_is_space) {
      decoded += ' ';
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

// Calls `take` with each part of `text` between separators until it returns false.
template <typename Take>
bool ForEachPart(std::string_view text, char separator, Take take) {
  while (true) {
    const size_t end = text.find(separator);
    if (!take(text.substr(0, end))) return false;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::string_view FindHeader(const Headers& headers, std::string_view name) {
  for (const auto& [key, value] : headers) {
    if (base::EqualsIgnoreCase(key, name)) return value;
  }
  return {};
}

std::string_view Target::Query(std::string_view name) const {
  for (const auto& [key, value] : query) {
    if (key == name) return value;
  }
  return {};
}

std::optional<Target> ParseTarget(std::string_view target) {
  if (!target.starts_with('/')) return std::nullopt;
  Target parsed;
  const size_t question = target.find('?');
  std::string_view path =
      target.substr(1, question == std::string_view::npos ? question : question - 1);
  if (path.ends_with('/')) path.remove_suffix(1);
  if (!path.empty()) {
    const bool is_well_formed = ForEachPart(path, '/', [&](std::string_view part) {
      std::optional<std::string> segment = Decode(part, false);
      if (!segment) return false;
      parsed.segments.push_back(std::move(*segment));
      return true;
    });
    if (!is_well_formed) return std::nullopt;
  }
  if (question == std::string_view::npos) return parsed;

  const bool is_well_formed =
      ForEachPart(target.substr(question + 1), '&', [&](std::string_view part) {
        if (part.empty()) return true;
        const size_t equals = part.find('=');
        std::optional<std::string> key = Decode(part.substr(0, equals), true);
        std::optional<std::string> value =
            Decode(equals == std::string_view::npos ? "" : part.substr(equals + 1), true);
        if (!key || !value) return false;
        parsed.query.emplace_back(std::move(*key), std::move(*value));
        return true;
      });
  if (!is_well_formed) return std::nullopt;
  return parsed;
}

std::string PercentEncode(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    if (IsUnreserved(c)) {
      encoded += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      encoded += '%';
      encoded += kHex[byte >> 4];
      encoded += kHex[byte & 15];
    }
  }
  return encoded;
}

}  // namespace net
