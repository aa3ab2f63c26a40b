#include "text/metrics.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "base/strings.h"
#include "text/json.h"

namespace text {
namespace {

using base::IsDigit;

constexpr size_t kMaxLine = 64 << 10;
constexpr size_t kMaxName = 64;

using Metrics = std::vector<std::pair<std::string, double>>;

bool IsLetterOrLine(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsInner(char c) { return c == '/' || c == '.' || c == '-' || c == '@'; }
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool MayBeginNumber(char c) {
  return IsDigit(c) || std::string_view("+-.nNiI").find(c) != std::string_view::npos;
}

// Parses the whole word; "3/10" is 3, "95%" is 95.
std::optional<double> NumberOf(std::string_view word) {
  constexpr std::string_view kBehind = ",;)]}%'\"";
  while (!word.empty() && kBehind.find(word.back()) != std::string_view::npos) {
    word.remove_suffix(1);
  }
  while (!word.empty() && (word.front() == '\'' || word.front() == '"')) word.remove_prefix(1);
  if (word.empty() || !MayBeginNumber(word.front())) return std::nullopt;
  const size_t slash = word.find('/');
  if (slash != std::string_view::npos && slash > 0) {
    for (const char c : word.substr(slash + 1)) {
      if (!IsDigit(c)) return std::nullopt;
    }
    word = word.substr(0, slash);
  }
  if (word.size() > kMaxName) return std::nullopt;
  const std::string lower = base::ToLower(word);
  if (lower == "nan" || lower == "-nan") return std::nan("");
  if (lower == "inf" || lower == "+inf" || lower == "infinity") return HUGE_VAL;
  if (lower == "-inf" || lower == "-infinity") return -HUGE_VAL;
  if (lower.find_first_not_of("0123456789+-.e") != std::string::npos) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(lower.c_str(), &end);
  const bool has_digit = lower.find_first_of("0123456789") != std::string::npos;
  if (!has_digit || end != lower.c_str() + lower.size()) return std::nullopt;
  return value;
}

// "" when it is not a name.
std::string NameOf(std::string_view word) {
  constexpr std::string_view kBefore = "([,{'\"";
  while (!word.empty() && kBefore.find(word.front()) != std::string_view::npos) {
    word.remove_prefix(1);
  }
  while (!word.empty() && (word.back() == '\'' || word.back() == '"')) word.remove_suffix(1);
  if (word.empty() || word.size() > kMaxName || !IsLetterOrLine(word.front())) return "";
  for (const char c : word) {
    if (!IsLetterOrLine(c) && !IsDigit(c) && !IsInner(c)) return "";
  }
  return IsInner(word.back()) ? "" : std::string(word);
}

Metrics OfJson(std::string_view line) {
  Metrics metrics;
  const auto json = ParseJson(line);
  const Object* members = json ? json->if_object() : nullptr;
  if (members == nullptr) return metrics;
  for (const auto& member : *members) {
    const Json& value = member.value();
    if (!value.is_number()) continue;
    const std::string name = NameOf(member.key());
    if (!name.empty()) metrics.emplace_back(name, value.to_number<double>());
  }
  return metrics;
}

std::vector<std::string_view> WordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  for (auto at = line.begin(); (at = std::find_if_not(at, line.end(), IsSpace)) != line.end();) {
    const auto end = std::find_if(at, line.end(), IsSpace);
    words.emplace_back(at, end);
    at = end;
  }
  return words;
}

// Takes the later value of "1.0 -> 0.1", whose first number is at `at`; the place of the number
// that counts.
size_t TakeLater(const std::vector<std::string_view>& words, size_t at, double& value) {
  while (at + 2 < words.size() && (words[at + 1] == "->" || words[at + 1] == "→")) {
    const auto later = NumberOf(words[at + 2]);
    if (!later) break;
    value = *later;
    at += 2;
  }
  return at;
}

}  // namespace

Metrics MetricsOf(std::string_view line) {
  line = base::Trim(line);
  // `File "train.py", line 5, in <module>` belongs to a traceback.
  if (line.size() > kMaxLine || line.starts_with("File \"")) return {};
  if (line.starts_with('{') && line.ends_with('}')) {
    if (Metrics metrics = OfJson(line); !metrics.empty()) return metrics;
  }
  Metrics metrics;
  const std::vector<std::string_view> words = WordsOf(line);
  for (size_t i = 0; i < words.size(); ++i) {
    std::string_view word = words[i];
    const size_t mark = word.find_first_of("=:");
    const bool has_next = i + 1 < words.size();
    if (mark != std::string_view::npos &&
        mark + 1 < word.size()) {  // name=1 name:1, several separated by ","
      const size_t before = metrics.size();
      for (const std::string& part : base::Split(word, ',')) {
        const size_t at = part.find_first_of("=:");
        if (at == std::string::npos) continue;
        const std::string name = NameOf(std::string_view(part).substr(0, at));
        const auto value = NumberOf(std::string_view(part).substr(at + 1));
        if (!name.empty() && value) metrics.emplace_back(name, *value);
      }
      if (metrics.size() > before) i = TakeLater(words, i, metrics.back().second);
      continue;
    }
    if (mark != std::string_view::npos) word = word.substr(0, mark);  // name: 1
    if (!has_next) break;
    size_t next = i + 1;
    if (words[next] == "=" || words[next] == ":") ++next;
    if (next >= words.size()) break;
    auto value = NumberOf(words[next]);
    if (!value) continue;
    const std::string name = NameOf(word);
    if (name.empty()) continue;
    i = TakeLater(words, next, *value);
    metrics.emplace_back(name, *value);
  }
  return metrics;
}

}  // namespace text
