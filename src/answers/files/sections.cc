#include "answers/files/sections.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "answers/log/pods/file_rank.h"
#include "answers/program_words.h"
#include "answers/rank_number.h"
#include "base/strings.h"

namespace answers {
namespace {

using Texts = std::vector<std::string_view>;

constexpr auto kEndingsOfLogs = std::to_array<std::string_view>({".log", ".err", ".out", ".txt"});

class Sections {
 public:
  void Begin(std::string_view name) {
    const auto [place, is_new] = places_.try_emplace(std::string(name), sections_.size());
    if (is_new) sections_.push_back({std::string(name), ""});
    current_ = place->second;
  }

  void Add(std::string_view line) { sections_[current_].text.append(line).push_back('\n'); }

  std::vector<Section> Take() {
    std::erase_if(sections_, [](const Section& one) {
      return one.name.empty() && base::Trim(one.text).empty();
    });
    if (sections_.size() > kMost) sections_.clear();
    return std::move(sections_);
  }

 private:
  static constexpr size_t kMost = 512;
  std::vector<Section> sections_{{"", ""}};
  std::map<std::string, size_t> places_;
  size_t current_ = 0;
};

bool IsEmptyLine(std::string_view line) { return base::Trim(line).empty(); }

// The name in the heading that `tail` prints or, with the lines around it, `more`.
std::string_view NameOfFile(const Texts& lines, size_t at) {
  constexpr std::string_view kBegin = "==> ", kEnd = " <==", kRuler = "::::::::::::::";
  const std::string_view line = base::Trim(lines[at]);
  if (line.starts_with(kBegin) && line.ends_with(kEnd) && line.size() > 8) {
    return line.substr(kBegin.size(), line.size() - kBegin.size() - kEnd.size());
  }
  const bool is_of_more = at > 0 && at + 1 < lines.size() && base::Trim(lines[at - 1]) == kRuler &&
                          base::Trim(lines[at + 1]) == kRuler;
  return is_of_more ? line : "";
}

// The words of "### rank_1.log", "===== rank 1 =====" and "**Rank 1 (node 0)**"; "" of another
// line.
std::string_view NameOfHeading(std::string_view line) {
  constexpr std::string_view kSigns = "#*=-~+< >:`";
  constexpr size_t kLongest = 60;
  line = base::Trim(line);
  const size_t begin = std::min(line.find_first_not_of(kSigns), line.size());
  const size_t end = line.find_last_not_of(kSigns) + 1;  // 0 without another sign
  const bool has_signs = begin > 1 && line.substr(0, 2).find(' ') == line.npos;
  if (!has_signs || end <= begin || end - begin > kLongest) return "";
  const std::string_view name = line.substr(begin, end - begin);
  const bool is_path =
      name.find(' ') == name.npos &&
      std::any_of(kEndingsOfLogs.begin(), kEndingsOfLogs.end(),
                  [name](std::string_view ending) { return name.ends_with(ending); });
  const size_t digit = std::min(name.find_first_of(kDigits), name.size());
  const size_t number = std::min(name.find_first_not_of(kDigits, digit), name.size());
  std::string words(name.substr(0, number));  // "Rank 1" of "Rank 1 (node 0)"
  std::replace(words.begin(), words.end(), ' ', '-');
  return is_path || RankOfName(words) ? name : "";
}

// Of lines of several files that grep has found, "logs/rank_1.log:12:text": where the text begins
// and, as the first, where the name ends.
std::optional<std::pair<size_t, size_t>> BehindFile(std::string_view line) {
  const size_t blank = std::min(line.find(' '), line.size());
  for (const std::string_view ending : kEndingsOfLogs) {
    const size_t at = line.substr(0, blank).find(ending);
    const size_t end = at == line.npos ? at : at + ending.size();
    if (end >= line.size() || (line[end] != ':' && line[end] != '-')) continue;
    size_t begin = end + 1;
    const size_t number = std::min(line.find_first_not_of(kDigits, begin), line.size());
    if (number > begin && number < line.size() && line[number] == line[end]) begin = number + 1;
    return std::pair(end, begin);
  }
  return std::nullopt;
}

// Whether nearly all lines have such a name.
bool IsOfGrep(const Texts& lines) {
  constexpr size_t kFewest = 3;
  size_t full = 0, marked = 0;
  for (const std::string_view line : lines) {
    if (IsEmptyLine(line) || line == "--") continue;
    ++full;
    marked += BehindFile(line).has_value();
    if (full > 100 && marked * 2 < full) return false;
  }
  return marked >= kFewest && marked * 10 >= full * 9;
}

// The headings in these lines, if they are those of logs: each once, alike, the first at the
// beginning, each with lines of its own below it.
std::map<size_t, std::string_view> HeadingsIn(const Texts& lines) {
  constexpr size_t kMostBefore = 3, kFewestBelow = 3;
  std::map<size_t, std::string_view> headings;
  std::set<std::string_view> names;
  size_t below = kFewestBelow, before = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view name = NameOfHeading(lines[i]);
    const bool is_like = headings.empty() || IsSameButNumbers(headings.begin()->second, name);
    if (name.empty() || !is_like) {
      const bool is_full = !IsEmptyLine(lines[i]) && !lines[i].starts_with("```");
      (headings.empty() ? before : below) += is_full;
      if (headings.empty() && before > kMostBefore) return {};
      continue;
    }
    if (below < kFewestBelow || !names.insert(name).second) return {};
    headings[i] = name;
    below = 0;
  }
  if (headings.size() < 2 || below < kFewestBelow) return {};
  return headings;
}

}  // namespace

std::vector<Section> SplitSections(std::string_view text) {
  Texts lines;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  Sections sections;
  if (IsOfGrep(lines)) {
    for (const std::string_view line : lines) {
      const auto place = BehindFile(line);
      if (place) sections.Begin(line.substr(0, place->first));
      if (line != "--") sections.Add(line.substr(place ? place->second : 0));
    }
    return sections.Take();
  }
  std::map<size_t, std::string_view> headings;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (const std::string_view name = NameOfFile(lines, i); !name.empty()) headings[i] = name;
  }
  if (headings.empty()) headings = HeadingsIn(lines);
  if (headings.empty()) return {};
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto heading = headings.find(i);
    if (heading != headings.end()) {
      sections.Begin(heading->second);
    } else if (lines[i].find_first_not_of(':') != lines[i].npos) {
      sections.Add(lines[i]);
    }
  }
  return sections.Take();
}

}  // namespace answers
