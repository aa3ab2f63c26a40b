#include "answers/rule_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/strings.h"

namespace answers {
namespace {

template <typename T, size_t kCount>
std::optional<T> ValueOf(const std::array<std::pair<std::string_view, T>, kCount>& names,
                         std::string_view name) {
  for (const auto& [known, value] : names) {
    if (known == name) return value;
  }
  return std::nullopt;
}

std::optional<Advice> AdviceOf(std::string_view name) {
  for (const Advice advice :
       {Advice::kFixFirst, Advice::kRetry, Advice::kRetryElsewhere, Advice::kStop, Advice::kNone}) {
    if (NameOf(advice) == name) return advice;
  }
  return std::nullopt;
}

std::optional<Level> LevelOf(std::string_view name) {
  static constexpr auto kNames =
      std::to_array<std::pair<std::string_view, Level>>({{"deciding", Level::kDeciding},
                                                         {"symptom", Level::kSymptom},
                                                         {"undecided", Level::kUndecided},
                                                         {"consequence", Level::kConsequence},
                                                         {"peer-lost", Level::kPeerLost}});
  return ValueOf(kNames, name);
}

// Patterns are quoted because they may begin or end with a blank. Returns "" if there are no
// quotes.
std::string_view Unquoted(std::string_view text) {
  if (text.size() < 2 || !text.starts_with('"') || !text.ends_with('"')) return "";
  return text.substr(1, text.size() - 2);
}

std::string_view TakeFirst(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(word.size() + 1, text.size()));
  return word;
}

std::string Unescaped(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view pair = text.substr(i, 2);
    if (pair == "\\n" || pair == "\\t") {
      plain.push_back(pair == "\\n" ? '\n' : '\t');
      ++i;
    } else {
      plain.push_back(text[i]);
    }
  }
  return plain;
}

bool ReadPattern(std::string_view word, std::string_view rest, Rule& rule) {
  if (word == "raised") {
    constexpr std::string_view kIn = "\" in \"";
    const size_t in = rest.find(kIn);
    if (in == std::string_view::npos) return false;
    rule.raised_in.push_back(
        {Unquoted(rest.substr(0, in + 1)), Unquoted(rest.substr(in + kIn.size() - 1))});
    return !rule.raised_in.back().text.empty() && !rule.raised_in.back().place.empty();
  }
  const std::string_view pattern = Unquoted(rest);
  if (word == "exception" || word == "text") rule.exceptions.push_back(pattern);
  if (word == "file") rule.files.push_back(pattern);
  if (word == "words") rule.words.push_back(pattern);
  if (word == "line" || word == "text" || word == "kernel") rule.lines.push_back(pattern);
  if (word == "witness" || word == "kernel") rule.witnesses.push_back(pattern);
  return !pattern.empty();
}

// Returns false if the line is not valid.
bool ReadLine(std::string_view line, RuleFile& file) {
  Rule& rule = file.rule;
  const std::string_view word = TakeFirst(line);
  if (word == "class") rule.kind = line;
  if (word == "title") rule.title = line;
  if (word == "advice") rule.advice_text = line;
  if (word == "class" || word == "title" || word == "advice") return true;
  if (word == "do") {
    const auto advice = AdviceOf(line);
    rule.advice = advice.value_or(Advice::kNone);
    return advice.has_value();
  }
  if (word == "level") {
    const auto level = LevelOf(line);
    rule.level = level.value_or(Level::kDeciding);
    return level.has_value();
  }
  if (word == "overrules") {
    while (!line.empty()) rule.overrules.push_back(TakeFirst(line));
    return !rule.overrules.empty();
  }
  if (word == "symptom") {
    if (TakeFirst(line) != "line") return false;
    file.symptom_lines.push_back(Unquoted(line));
    return !file.symptom_lines.back().empty();
  }
  if (word == "sample") {
    const std::string_view form = TakeFirst(line);
    file.samples.push_back({form, Unescaped(Unquoted(line))});
    return (form == "exception" || form == "line" || form == "log") &&
           !file.samples.back().text.empty();
  }
  static constexpr auto kPatterns = std::to_array<std::string_view>(
      {"exception", "file", "words", "line", "text", "witness", "kernel", "raised"});
  return std::find(kPatterns.begin(), kPatterns.end(), word) != kPatterns.end() &&
         ReadPattern(word, line, rule);
}

}  // namespace

base::Result<RuleFile> ReadRule(const RuleText& text) {
  RuleFile file;
  file.rule.name = text.name;
  std::string_view left = text.text;
  while (!left.empty()) {
    const std::string_view line = left.substr(0, left.find('\n'));
    left.remove_prefix(std::min(line.size() + 1, left.size()));
    if (line.empty() || line.starts_with('#') || ReadLine(line, file)) continue;
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("rule {}: what is \"{}\"?", text.name, line));
  }
  const Rule& rule = file.rule;
  for (const auto& [word, value] : {std::pair("class", rule.kind), {"title", rule.title}}) {
    if (value.empty()) {
      return base::Fail(base::Code::kInvalidArgument,
                        fmt::format("rule {} has no {}", text.name, word));
    }
  }
  return file;
}

}  // namespace answers
