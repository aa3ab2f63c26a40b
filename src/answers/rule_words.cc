#include "answers/rule_words.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/strings.h"

namespace answers {

const Rule* RuleForEscaped(std::string_view text) {
  constexpr std::string_view kQuote = "\\\"";
  if (text.find(kQuote) == std::string_view::npos) return nullptr;
  return RuleForLine(base::ReplaceAll(text, kQuote, "\""));
}

const Rule* RuleForWords(std::string_view text) {
  for (const std::string_view end : {"Error: ", "Exception: "}) {
    for (size_t at = text.find(end); at != std::string_view::npos; at = text.find(end, at + 1)) {
      const size_t begin = text.find_last_of(" :[('\"", at) + 1;  // 0 if there is none
      const Rule* const rule = RuleForException(text.substr(begin));
      if (rule != nullptr && rule->level <= Level::kSymptom) return rule;
    }
  }
  return RuleForException(text);
}

const Rule* RuleForBare(std::string_view text) {
  constexpr size_t kShortest = 12;
  static constexpr auto kTypes = std::to_array<std::string_view>(
      {"RuntimeError", "ValueError", "TypeError", "AttributeError", "AssertionError"});
  constexpr auto kOfErrno = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"[Errno 1] ", "PermissionError"},
       {"[Errno 2] ", "FileNotFoundError"},
       {"[Errno 11] ", "BlockingIOError"},
       {"[Errno 13] ", "PermissionError"},
       {"[Errno 20] ", "NotADirectoryError"},
       {"[Errno 21] ", "IsADirectoryError"},
       {"[Errno 111] ", "ConnectionRefusedError"}});
  if (text.size() < kShortest || text.find(' ') == std::string_view::npos) return nullptr;
  for (const auto& [begin, type] : kOfErrno) {
    if (text.starts_with(begin)) return RuleForException(fmt::format("{}: {}", type, text));
  }
  for (const std::string_view type : kTypes) {
    const Rule* const rule = RuleForException(fmt::format("{}: {}", type, text));
    if (rule != nullptr) return rule;
  }
  return nullptr;
}

}  // namespace answers
