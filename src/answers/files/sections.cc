#include "answers/files/sections.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "answers/files/one_job.h"
#include "answers/log/line_numbers.h"
#include "answers/log/pods/file_rank.h"
#include "answers/log/split_lines.h"
#include "answers/program_words.h"
#include "answers/rank_number.h"
#include "answers/symptoms.h"
#include "answers/traceback.h"
#include "base/strings.h"

namespace answers {
namespace {

using Texts = std::vector<std::string_view>;

constexpr auto kEndingsOfLogs = std::to_array<std::string_view>({".log", ".err", ".out", ".txt"});

constexpr std::string_view kRuler = "::::::::::::::";

class Sections {
 public:
  void Begin(std::string_view name) {
    if (sections_.size() > kMostSections) return;
    const auto [place, is_new] = places_.try_emplace(std::string(name), sections_.size());
    if (is_new) sections_.push_back({std::string(name), ""});
    current_ = place->second;
  }

  void Add(std::string_view line) { sections_[current_].text.append(line).push_back('\n'); }

  std::vector<Section> Take() {
    if (sections_.size() > kMostSections) return {};
    std::erase_if(sections_, [](const Section& one) {
      return one.name.empty() && base::Trim(one.text).empty();
    });
    return std::move(sections_);
  }

 private:
  std::vector<Section> sections_{{"", ""}};
  std::map<std::string, size_t> places_;
  size_t current_ = 0;
};

bool IsEmptyLine(std::string_view line) { return base::Trim(line).empty(); }

bool IsLogsName(std::string_view name) {
  return name.find(' ') == name.npos &&
         std::any_of(kEndingsOfLogs.begin(), kEndingsOfLogs.end(),
                     [name](std::string_view ending) { return name.ends_with(ending); });
}

// The name in the heading that `tail` prints or, with the lines around it, `more`.
std::string_view NameOfFile(const Texts& lines, size_t at) {
  constexpr std::string_view kBegin = "==> ", kEnd = " <==";
  std::string_view line = base::Trim(lines[at]);
  if (line.starts_with(kBegin) && line.ends_with(kEnd) && line.size() > 8) {
    line = line.substr(kBegin.size(), line.size() - kBegin.size() - kEnd.size());
  } else if (at == 0 || at + 1 >= lines.size() || base::Trim(lines[at - 1]) != kRuler ||
             base::Trim(lines[at + 1]) != kRuler) {
    return "";
  }
  const bool is_file = IsLogsName(line) || line.find('/') != line.npos || !JobOf(line).empty() ||
                       RankOfName(line).has_value();
  return is_file && line.find(' ') == line.npos ? line : "";
}

// The rank in "rank 1", "Worker rank 1 (node 0)" and "log of rank 1"; nullopt of words that name
// something else, "LoRA rank 8", or more, "rank 0: epoch 1".
std::optional<int> RankOfHeading(std::string_view words) {
  static constexpr auto kBefore = std::to_array<std::string_view>(
      {"", "global", "world", "mpi", "worker", "process", "trainer", "training", "of", "from",
       "for", "log", "logs", "output", "stdout", "stderr"});
  static constexpr auto kBehind = std::to_array<std::string_view>(
      {" (", " [", "/", ",", " of ", " on ", " @", " log", " output", " stdout", " stderr"});
  const std::string lower = base::ToLower(words);
  const size_t digit = std::min(lower.find_first_of(kDigits), lower.size());
  const size_t number = std::min(lower.find_first_not_of(kDigits, digit), lower.size());
  std::string name = lower.substr(0, number);
  std::replace(name.begin(), name.end(), ' ', '-');
  const auto rank = RankOfName(name);
  if (!rank) return std::nullopt;
  std::string_view before = std::string_view(lower).substr(0, name.rfind("rank"));
  before = before.substr(0, before.find_last_not_of(" -_") + 1);
  const std::string_view word = before.substr(before.find_last_of(" -_") + 1);  // 0 without one
  const std::string_view behind = std::string_view(lower).substr(number);
  const bool is_ranks =
      std::find(kBefore.begin(), kBefore.end(), word) != kBefore.end() &&
      (behind.empty() || std::any_of(kBehind.begin(), kBehind.end(),
                                     [behind](auto begin) { return behind.starts_with(begin); }));
  return is_ranks ? rank : std::nullopt;
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
  return IsLogsName(name) || RankOfHeading(name) ? name : "";
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
    const bool has_number = number > begin && number < line.size() && line[number] == line[end];
    if (has_number && !IsClock(line.substr(begin))) begin = number + 1;
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

using Headings = std::map<size_t, std::string_view>;

constexpr size_t kMostAbove = 3;  // full lines before the first heading

bool IsFull(std::string_view line) { return !IsEmptyLine(line) && !line.starts_with("```"); }

// Whether what stands below the last heading is no log of its own, but goes on with all that had
// such short parts at its beginning.
bool GoesOnBelowLast(const Texts& lines, const Headings& headings) {
  constexpr size_t kMuchMore = 40;
  const auto is_work = [](std::string_view line) {
    return IsProgress(line) || MentionsFailure(line) || line.find(kTracebackHeader) != line.npos;
  };
  size_t longest = 0;
  bool have_work = false;
  const size_t last = headings.rbegin()->first;
  for (auto one = headings.begin(); one->first != last; ++one) {
    const auto begin = lines.begin() + static_cast<ptrdiff_t>(one->first);
    const auto end = lines.begin() + static_cast<ptrdiff_t>(std::next(one)->first);
    longest = std::max(longest, static_cast<size_t>(end - begin));
    have_work = have_work || std::any_of(begin, end, is_work);
  }
  const auto below = lines.begin() + static_cast<ptrdiff_t>(last);
  const bool has_work = std::any_of(below, lines.end(), is_work);
  return (has_work && !have_work) || lines.size() - last > 2 * longest + kMuchMore;
}

// The headings in these lines, if they are those of logs: each once, alike, the first at the
// beginning, each with lines of its own below it.
Headings HeadingsIn(const Texts& lines) {
  constexpr size_t kFewestBelow = 3;
  Headings headings;
  std::set<std::string_view> names;
  std::set<int> ranks;
  size_t below = kFewestBelow, before = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view name = NameOfHeading(lines[i]);
    const bool is_like = headings.empty() || IsSameButNumbers(headings.begin()->second, name);
    if (name.empty() || !is_like) {
      (headings.empty() ? before : below) += IsFull(lines[i]);
      if (headings.empty() && before > kMostAbove) return {};
      continue;
    }
    const auto rank = IsLogsName(name) ? std::nullopt : RankOfHeading(name);
    const bool is_again = !names.insert(name).second || (rank && !ranks.insert(*rank).second);
    if (below < kFewestBelow || is_again) return {};
    headings[i] = name;
    below = 0;
  }
  const bool are_logs =
      headings.size() > 1 && below >= kFewestBelow && !GoesOnBelowLast(lines, headings);
  return are_logs ? headings : Headings();
}

// Those of `tail` and `more`, the first at the beginning.
Headings HeadingsOfFiles(const Texts& lines) {
  Headings headings;
  size_t before = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (const std::string_view name = NameOfFile(lines, i); !name.empty()) headings[i] = name;
    before += headings.empty() && IsFull(lines[i]) && base::Trim(lines[i]) != kRuler;
    if (before > kMostAbove) return {};
  }
  return headings;
}

}  // namespace

std::vector<Section> SplitSections(std::string_view text) {
  Texts lines = LastLines(text, text.size());
  for (std::string_view& line : lines) {
    if (line.ends_with('\r')) line.remove_suffix(1);
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
  Headings headings = HeadingsOfFiles(lines);
  if (headings.empty()) headings = HeadingsIn(lines);
  if (headings.empty()) return {};
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto heading = headings.find(i);
    if (heading != headings.end()) {
      sections.Begin(heading->second);
    } else if (base::Trim(lines[i]) != kRuler) {
      sections.Add(lines[i]);
    }
  }
  return sections.Take();
}

}  // namespace answers
