#include <fmt/format.h>

#include <algorithm>

#include "answers/verdict.h"
#include "base/strings.h"

namespace answers {
namespace {

constexpr size_t kWidth = 98;
constexpr size_t kIndent = 11;
constexpr size_t kShownFacts = 8;
constexpr size_t kShownOthers = 4;

// One line of a terminal: no control characters, no more than fits.
std::string OneLine(std::string_view text) {
  std::string line;
  for (const char c : text) line += static_cast<unsigned char>(c) < ' ' || c == 0x7f ? ' ' : c;
  if (line.size() > kWidth - kIndent) {
    size_t end = kWidth - kIndent - 3;
    while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) --end;
    line.resize(end);
    line += "...";
  }
  return line;
}

void Add(std::string& text, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  text += fmt::format("{:<{}}{}\n", name.empty() ? "" : fmt::format("{}:", name), kIndent,
                      OneLine(value));
}

// Broken between words.
void AddParagraph(std::string& text, std::string_view name, const std::string& words) {
  std::string line;
  for (const std::string& word : base::Split(words, ' ')) {
    if (!line.empty() && line.size() + 1 + word.size() > kWidth - kIndent) {
      Add(text, name, line);
      name = "";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  Add(text, name, line);
}

std::string TimeOf(const Fact& fact) {
  return fact.time ? base::FormatRfc3339(*fact.time) + " " : "";
}

}  // namespace

std::string Render(const Verdict& verdict, const Evidence& evidence, bool has_all) {
  std::string text;
  AddParagraph(text, "What", fmt::format("{} ({})", verdict.title, verdict.kind));
  if (verdict.rank) {
    const Rank& rank = evidence.ranks[*verdict.rank];
    Add(text, "Who",
        fmt::format("{}{}{}", NameOf(rank), rank.host.empty() ? "" : " on " + rank.host,
                    rank.attempt == 0 ? "" : fmt::format(", attempt {}", rank.attempt + 1)));
  }
  Add(text, verdict.kind == kUnknown ? "Last line" : "Why", verdict.line);
  if (!verdict.file.empty()) {
    Add(text, "Where",
        fmt::format("{}:{}{}", verdict.file, verdict.file_line,
                    verdict.function.empty() ? "" : " in " + verdict.function));
  }
  const size_t facts =
      has_all ? verdict.evidence.size() : std::min(kShownFacts + 1, verdict.evidence.size());
  std::string source;
  for (size_t i = 0; i < facts; ++i) {
    const Fact& fact = verdict.evidence[i];
    if (i == 0) {
      Add(text, "Evidence", TimeOf(fact) + fact.source + ": " + fact.text);
    } else {
      Add(text, "", "  " + fact.text);
    }
  }
  const size_t others =
      has_all ? verdict.consequences.size() : std::min(kShownOthers, verdict.consequences.size());
  for (size_t i = 0; i < others; ++i) {
    const Fact& fact = verdict.consequences[i];
    Add(text, i == 0 ? "Others" : "", fact.source + " " + fact.text);
  }
  if (verdict.consequences.size() > others) {
    Add(text, "", fmt::format("and {} more", verdict.consequences.size() - others));
  }
  AddParagraph(
      text, "Do",
      (verdict.advice == Advice::kNone ? "" : fmt::format("[{}] ", NameOf(verdict.advice))) +
          verdict.advice_text);
  Add(text, "Sure", fmt::format("{}", NameOf(verdict.confidence)));
  for (size_t i = 0; i < std::min<size_t>(3, verdict.missing.size()); ++i) {
    Add(text, i == 0 ? "Missing" : "", verdict.missing[i]);
  }
  return text;
}

}  // namespace answers
