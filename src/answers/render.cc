#include <fmt/format.h>

#include <algorithm>

#include "answers/verdict.h"
#include "base/strings.h"

namespace answers {
namespace {

constexpr size_t kLeastWidth = 40;
constexpr size_t kIndent = 11;
constexpr size_t kShownWords = 8;  // the end of a traceback
constexpr size_t kMostRows = 22;   // of a terminal with 24, under the job's own line
constexpr size_t kShownOthers = 4;
constexpr size_t kShownMissing = 3;
constexpr size_t kShownLines = 3;  // of a long paragraph

bool IsInsideCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }  // UTF-8

// Builds lines of "Name:      value".
class Screen {
 public:
  explicit Screen(size_t width) : room_(std::max(width, kLeastWidth) - kIndent) {}

  // Cuts text that does not fit.
  void Add(std::string_view name, std::string_view value) {
    if (value.empty()) return;
    text_ += fmt::format("{:<{}}{}\n", name.empty() ? "" : fmt::format("{}:", name), kIndent,
                         OneLine(value));
  }

  // Breaks the text between words into at most kShownLines.
  void AddParagraph(std::string_view name, const std::string& words) {
    std::string line;
    size_t lines = 1;
    for (const std::string& word : base::Split(words, ' ')) {
      const bool fits = line.size() + 1 + word.size() <= room_;
      if (!line.empty() && !fits && lines < kShownLines) {
        Add(name, line);
        name = "";
        line.clear();
        ++lines;
      }
      line += (line.empty() ? "" : " ") + word;
    }
    Add(name, line);
  }

  std::string Take() { return std::move(text_); }

 private:
  // Removes control characters, and cuts the text to the available width.
  std::string OneLine(std::string_view text) const {
    std::string line;
    for (const char c : text) line += static_cast<unsigned char>(c) < ' ' || c == 0x7f ? ' ' : c;
    if (line.size() <= room_) return line;
    size_t end = room_ - 3;
    while (end > 0 && IsInsideCharacter(line[end])) --end;
    return line.substr(0, end) + "...";
  }

  const size_t room_;
  std::string text_;
};

std::string TimeOf(const Fact& fact) {
  return fact.time ? base::FormatRfc3339(*fact.time) + " " : "";
}

std::string Who(const Rank& rank) {
  return fmt::format("{}{}{}", NameOf(rank), rank.host.empty() ? "" : " on " + rank.host,
                     rank.attempt == 0 ? "" : fmt::format(", attempt {}", rank.attempt + 1));
}

std::string Where(const Verdict& verdict) {
  if (verdict.file.empty()) return "";
  return fmt::format("{}:{}{}", verdict.file, verdict.file_line,
                     verdict.function.empty() ? "" : " in " + verdict.function);
}

// "rank 0 exited with code 143": the pod is not repeated if Who names it.
std::string Other(const Fact& other, const Verdict& verdict, const Evidence& evidence) {
  std::string_view source = other.source;
  const std::string pod =
      verdict.rank ? fmt::format(" ({})", evidence.ranks[*verdict.rank].name) : "";
  if (!pod.empty() && source.ends_with(pod)) source.remove_suffix(pod.size());
  return fmt::format("{} {}", source, other.text);
}

// `shown_words`: how many lines of its output are shown, unless `has_all`.
std::string Draw(const Verdict& verdict, const Evidence& evidence, bool has_all, size_t width,
                 size_t shown_words) {
  Screen screen(width);
  screen.AddParagraph("What", fmt::format("{} ({})", verdict.title, verdict.kind));
  if (verdict.rank) screen.Add("Who", Who(evidence.ranks[*verdict.rank]));
  screen.AddParagraph(verdict.kind == kUnknown ? "Last line" : "Why", verdict.line);
  screen.Add("Where", Where(verdict));

  // The first fact is how the rank ended; the last ones are the end of its output.
  const std::vector<Fact>& facts = verdict.evidence;
  const size_t left_out =
      has_all || facts.size() <= shown_words + 1 ? 0 : facts.size() - shown_words - 1;
  for (size_t i = 0; i < facts.size(); i += i == 0 ? 1 + left_out : 1) {
    if (i == 0) {
      screen.Add("Evidence", TimeOf(facts[i]) + facts[i].source + ": " + facts[i].text);
    } else {
      const bool is_others = facts[i].source != facts[0].source;
      screen.Add(
          "", "  " + (is_others ? TimeOf(facts[i]) + facts[i].source + ": " : "") + facts[i].text);
    }
  }

  const std::vector<Fact>& others = verdict.consequences;
  const size_t shown = has_all ? others.size() : std::min(kShownOthers, others.size());
  for (size_t i = 0; i < shown; ++i) {
    screen.Add(i == 0 ? "Others" : "", Other(others[i], verdict, evidence));
  }
  if (others.size() > shown) screen.Add("", fmt::format("and {} more", others.size() - shown));

  const std::string advice =
      verdict.advice == Advice::kNone ? "" : fmt::format("[{}] ", NameOf(verdict.advice));
  screen.AddParagraph("Do", advice + verdict.advice_text);
  screen.Add("Sure", NameOf(verdict.confidence));
  for (size_t i = 0; i < std::min(kShownMissing, verdict.missing.size()); ++i) {
    screen.Add(i == 0 ? "Missing" : "", verdict.missing[i]);
  }
  return screen.Take();
}

}  // namespace

std::string Render(const Verdict& verdict, const Evidence& evidence, bool has_all, size_t width) {
  std::string text = Draw(verdict, evidence, has_all, width, kShownWords);
  const auto rows = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  if (has_all || rows <= kMostRows) return text;
  return Draw(verdict, evidence, has_all, width,
              kShownWords - std::min(rows - kMostRows, kShownWords - 1));
}

}  // namespace answers
