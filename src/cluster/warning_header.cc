#include "cluster/warning_header.h"

#include <optional>
#include <utility>

#include "base/strings.h"

namespace cluster {
namespace {

void SkipSpaces(std::string_view& text) {
  const size_t start = text.find_first_not_of(" \t");
  text.remove_prefix(start == std::string_view::npos ? text.size() : start);
}

std::string_view TakeWord(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find_first_of(" \t"));
  text.remove_prefix(word.size());
  SkipSpaces(text);
  return word;
}

// `"a \"b\" c"`; nullopt when it does not end.
std::optional<std::string> TakeQuotedString(std::string_view& text) {
  if (!text.starts_with('"')) return std::nullopt;
  std::string unescaped;
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      SkipSpaces(text);
      return unescaped;
    }
    if (text[i] == '\\' && ++i == text.size()) break;
    unescaped += text[i];
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> ParseWarningHeader(std::string_view value) {
  std::vector<std::string> warnings;
  // 1#( warn-code SP warn-agent SP warn-text [ SP warn-date ] )
  while (true) {
    SkipSpaces(value);
    const std::string_view code = TakeWord(value);
    TakeWord(value);  // the agent
    std::optional<std::string> text = TakeQuotedString(value);
    if (!text) return warnings;
    if (value.starts_with('"') && !TakeQuotedString(value)) return warnings;
    if (code == "299") warnings.push_back(std::move(*text));
    if (!value.starts_with(',')) return warnings;
    value.remove_prefix(1);
  }
}

}  // namespace cluster
