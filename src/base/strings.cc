#include "base/strings.h"

#include <algorithm>
#include <charconv>

namespace base {
namespace {
char LowerChar(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
char UpperChar(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

// The end of the escape sequence that begins at `at`, such as "\x1b[1;31m"; `at` if none does. One
// that is cut has no last character.
size_t EscapeEnd(std::string_view text, size_t at) {
  if (!text.substr(at).starts_with("\x1b[")) return at;
  const size_t last = std::min(text.find_first_not_of("0123456789:;<=>?", at + 2), text.size());
  const bool is_whole = last < text.size() && text[last] >= '@' && text[last] <= '~';
  return is_whole ? last + 1 : last;
}
}  // namespace

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (true) {
    const size_t end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

std::string Join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string joined;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i != 0) joined += separator;
    joined += parts[i];
  }
  return joined;
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n\v\f";
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::string ReplaceAll(std::string_view text, std::string_view what, std::string_view with) {
  std::string out;
  for (size_t at; (at = text.find(what)) != std::string_view::npos;) {
    out.append(text.substr(0, at)).append(with);
    text.remove_prefix(at + what.size());
  }
  return out.append(text);
}

std::string OneLine(std::string_view text, size_t most) {
  std::string line;
  size_t spaces = 0;  // they stay: texts of Kubernetes are compared byte for byte
  bool is_broken = false;
  text = Trim(text);
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (const size_t end = EscapeEnd(text, at); end > at) {
      at = end - 1;
    } else if (c == ' ') {
      ++spaces;
    } else if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) {
      is_broken = true;
    } else {
      const size_t blanks = is_broken ? 1 : std::min(spaces, most);
      if (!line.empty()) line.append(blanks, ' ');
      spaces = 0;
      is_broken = false;
      line += c;
    }
    if (line.size() > most + 4) break;  // room for a character to be cut
  }
  if (line.size() <= most) return line;
  while (most > 0 && (static_cast<unsigned char>(line[most]) & 0xC0U) == 0x80U) --most;
  return line.substr(0, most) + "...";
}

std::string ToLower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), LowerChar);
  return lower;
}

std::string ToUpper(std::string_view text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(), UpperChar);
  return upper;
}

bool EqualsIgnoreCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return LowerChar(x) == LowerChar(y);
         });
}

std::optional<int64_t> ParseInt(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
  return value;
}

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replace});
    }
  }
  return row[b.size()];
}

std::string PercentDecode(std::string_view text) {
  const auto digit = [](char c) -> std::optional<int> {
    if (IsDigit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return std::nullopt;
  };
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool may_be_escape = text[i] == '%' && i + 2 < text.size();
    const auto high = may_be_escape ? digit(text[i + 1]) : std::nullopt;
    const auto low = may_be_escape ? digit(text[i + 2]) : std::nullopt;
    if (high && low) {
      out += static_cast<char>(*high * 16 + *low);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string ShellQuote(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@%+";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(text);
  }
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::optional<std::vector<std::string>> ShellWords(std::string_view line, WordRules rules) {
  const bool is_shell = rules == WordRules::kShell;
  const std::string_view escaped_in_quotes = is_shell ? "\"\\$`\n" : "\"\\";
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
      continue;
    }
    if (is_shell && line.substr(i).starts_with("\\\n")) {
      ++i;
      continue;
    }
    in_word = true;
    if (c == '\\' && i + 1 < line.size()) {
      word += line[++i];
    } else if (c == '\'' || c == '"') {
      size_t end = i + 1;
      for (; end < line.size() && line[end] != c; ++end) {
        const bool is_escape = c == '"' && line[end] == '\\' && end + 1 < line.size() &&
                               escaped_in_quotes.find(line[end + 1]) != std::string_view::npos;
        if (is_escape) ++end;
        if (is_shell && is_escape && line[end] == '\n') continue;
        word += line[end];
      }
      if (end >= line.size()) return std::nullopt;
      i = end;
    } else {
      word += c;
    }
  }
  if (in_word) words.push_back(std::move(word));
  return words;
}

namespace {
constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
}

std::string Base64Encode(std::string_view bytes) {
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    for (size_t j = 0; j < 3; ++j) {
      group = group << 8 | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    }
    for (size_t j = 0; j < 4; ++j) {
      out += j <= count ? kBase64[group >> (18 - 6 * j) & 63] : '=';
    }
  }
  return out;
}

std::optional<std::string> Base64Decode(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string out;
  for (size_t i = 0; i < text.size(); i += 4) {
    uint32_t group = 0;
    size_t padding = 0;
    for (size_t j = 0; j < 4; ++j) {
      const char c = text[i + j];
      if (c == '=' && j >= 2 && i + 4 == text.size()) {
        ++padding;
        group <<= 6;
        continue;
      }
      const size_t value = kBase64.find(c);
      if (value == std::string_view::npos || padding != 0) return std::nullopt;
      group = group << 6 | static_cast<uint32_t>(value);
    }
    for (size_t j = 0; j < 3 - padding; ++j) {
      out += static_cast<char>(group >> (16 - 8 * j) & 0xff);
    }
  }
  return out;
}

}  // namespace base
