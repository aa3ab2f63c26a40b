#include "answers/finding/last_words.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "answers/exit_finding.h"
#include "answers/finding.h"
#include "answers/loss_watch.h"
#include "answers/program_words.h"
#include "answers/symptoms.h"
#include "answers/traceback.h"
#include "base/strings.h"

namespace answers {
namespace {

// Whether the line ends Python's message about an exception that it ignored, for example in a
// destructor; no program ends because of that.
bool IsOfIgnored(const std::vector<Line>& lines, size_t line) {
  constexpr size_t kMostFrames = 100;
  // What a destructor raises is ignored, too, if Python's heading is missing.
  const auto begins_ignored = [&lines](size_t header) {
    if (lines[header].text != kTracebackHeader || header + 1 == lines.size()) return false;
    const Frame outermost = ReadFrame(lines[header + 1].text);
    return outermost.function == "__del__" || IsOfFeeder(outermost);
  };
  if (begins_ignored(line)) return true;
  for (size_t i = line; i-- > 0 && line - i <= kMostFrames;) {
    const std::string_view text = lines[i].text;
    if (text.starts_with("Exception ignored ") || begins_ignored(i)) return true;
    if (!text.starts_with(' ') && text != kTracebackHeader) return false;
  }
  return false;
}

// Whether the program reports an error that it handled, and worked on after an earlier line like
// this.
bool WentOnAsBefore(const std::vector<Line>& lines, size_t last) {
  const size_t line = AboveTraceback(lines, last);
  const std::string_view text = lines[line].text;
  if (!IsHandled(text)) return false;
  bool has_worked = false;
  for (size_t i = line; i-- > 0;) {
    const bool is_alike = line == last || lines[i + 1].text == kTracebackHeader;
    if (has_worked && is_alike && IsSameButNumbers(lines[i].text, text)) return true;
    has_worked = has_worked || IsProgress(lines[i].text);
  }
  return false;
}

struct Trouble {
  const Rank* rank;
  const Line* line;
};

// Finds the last word about a failure in a rank's log, provided that only a few lines follow it.
// `is_word` says which lines are such words.
std::optional<Trouble> LastTroubleOf(const Rank& rank, bool (*is_word)(std::string_view)) {
  constexpr size_t kMostBehind = 20;
  size_t passed = 0;
  const std::vector<bool> overtaken = OvertakenIn(rank.lines);
  const auto line = std::find_if(rank.lines.rbegin(), rank.lines.rend(), [&](const Line& each) {
    const auto place = static_cast<size_t>(&each - rank.lines.data());
    const bool is_over = !overtaken.empty() && overtaken[place];
    if (base::Trim(each.text).empty() || is_over || IsOfIgnored(rank.lines, place) ||
        IsBeforeAside(each.text) || SaysItRetries(each.text) || WentOnAsBefore(rank.lines, place)) {
      return false;
    }
    passed += SaysNothing(each.text) ? 0 : 1;
    return passed > kMostBehind || IsProgress(each.text) || (rank.rank && BeginsWork(each.text)) ||
           is_word(each.text);
  });
  if (line == rank.lines.rend() || !is_word(line->text)) return std::nullopt;
  // The heading of a traceback that the log has cut says nothing.
  const bool is_heading = line->text.find(kTracebackHeader) != std::string::npos;
  return Trouble{&rank, is_heading ? &rank.lines[LastSaid(rank.lines)] : &*line};
}

bool IsWordOfFailure(std::string_view text) {
  return MentionsFailure(text) && !OnlySpeaksOfFailure(text) && !IsAside(text);
}

// The same two of the program itself.
bool IsProgramsLastWord(std::string_view text) { return IsLastWord(text) && !SaysNothing(text); }

bool IsProgramsWordOfFailure(std::string_view text) {
  return IsWordOfFailure(text) && !SaysNothing(text) && !GoesOnAnyway(text);
}

void TakeTrouble(Verdict& verdict, const Trouble& trouble) {
  verdict.line = base::Trim(std::string_view(trouble.line->text).substr(0, 400));
  verdict.evidence.push_back({trouble.line->time, NameOf(*trouble.rank), verdict.line});
}

void TakeLast(Verdict& verdict, const Evidence& evidence, bool (*is_word)(std::string_view)) {
  std::optional<Trouble> last;
  for (const Rank& rank : evidence.ranks) {
    const auto trouble = HasFailed(rank) ? LastTroubleOf(rank, is_word) : std::nullopt;
    if (!trouble || (last && trouble->line->order < last->line->order)) continue;
    last = trouble;
  }
  if (!last) return;
  verdict.title = "it failed, and these data do not say why";
  if (last->rank->rank && evidence.ranks.size() == 1) {
    verdict.rank = static_cast<size_t>(last->rank - evidence.ranks.data());
  }
  TakeTrouble(verdict, *last);
  verdict.advice_text =
      "Look at the logs of all ranks from their beginning on, and at the kernel's (dmesg).";
}

bool IsBlank(const Line& line) { return base::Trim(line.text).empty(); }

// Rank 0 often writes alone: its bar, its warnings.
void TakeWordsOfOnlyOne(Verdict& verdict, const Evidence& evidence) {
  const Rank* only = nullptr;
  std::set<int> ranks;
  for (const Rank& rank : evidence.ranks) {
    if (!rank.rank || !rank.name.ends_with("stderr.log")) continue;
    ranks.insert(*rank.rank);
    if (std::all_of(rank.lines.begin(), rank.lines.end(), IsBlank)) continue;
    if (only != nullptr) return;
    only = &rank;
  }
  if (ranks.size() < 2 || only == nullptr || *only->rank == 0 || !HasFailed(*only)) return;
  const Line& last = only->lines[LastSaid(only->lines)];
  const std::string& text = last.text;
  if (SaysNothing(text) || IsProgress(text) || IsWarning(text) || IsAside(text) ||
      BeginsWork(text) || ReportsSuccess(text)) {
    return;
  }
  verdict.title = "it may have ended by this rank; these data do not say why";
  verdict.rank = static_cast<size_t>(only - evidence.ranks.data());
  verdict.advice_text = "Look for this line in the program.";
  TakeTrouble(verdict, {only, &last});
}

// Returns the first line with a loss that is not a number, unless a later loss was a number again.
const Line* LostLossIn(const std::vector<Line>& lines) {
  const Line* lost = nullptr;
  for (const Line& line : lines) {
    if (HasLostLoss(line.text)) {
      if (lost == nullptr) lost = &line;
    } else if (IsProgress(line.text) &&
               base::ToLower(line.text).find("loss") != std::string::npos) {
      lost = nullptr;
    }
  }
  return lost;
}

}  // namespace

void TakeLastTrouble(Verdict& verdict, const Evidence& evidence) {
  for (const auto is_word :
       {IsProgramsLastWord, IsProgramsWordOfFailure, IsLastWord, IsWordOfFailure}) {
    if (verdict.line.empty()) TakeLast(verdict, evidence, is_word);
  }
  if (verdict.line.empty()) TakeWordsOfOnlyOne(verdict, evidence);
}

void TakeCommonLogsLastWords(Verdict& verdict, const Evidence& evidence) {
  const Rank& of = evidence.ranks[*verdict.rank];
  const bool has_own = !of.lines.empty() || !SaysNothing(of.end_words);  // quoted by its launcher
  if (has_own || of.exit_code.value_or(0) >= kSignalBase) return;
  const auto log =
      std::find_if(evidence.ranks.begin(), evidence.ranks.end(), [&of](const Rank& rank) {
        return rank.name == of.name && !rank.rank && !rank.lines.empty();
      });
  if (log == evidence.ranks.end()) return;
  // The launcher's table is nobody's word.
  Rank said = *log;
  said.lines.erase(
      std::find_if(said.lines.begin(), said.lines.end(),
                   [](const Line& line) {
                     return line.text.starts_with(
                         "torch.distributed.elastic.multiprocessing.errors.ChildFailedError");
                   }),
      said.lines.end());
  const auto trouble = LastTroubleOf(said, [](std::string_view text) {
    return IsProgramsLastWord(text) || IsProgramsWordOfFailure(text);
  });
  if (trouble) {
    TakeTrouble(verdict, *trouble);
    return;
  }
  const size_t last = LastSaid(said.lines);
  if (last == said.lines.size()) return;
  const Line& line = said.lines[last];
  if (!SaysNothing(line.text) && !IsProgress(line.text)) TakeTrouble(verdict, {&said, &line});
}

void NoteLostLoss(Verdict& verdict, const Evidence& evidence) {
  std::vector<size_t> with_lines;
  for (size_t i = 0; i < evidence.ranks.size(); ++i) {
    if (!evidence.ranks[i].lines.empty()) with_lines.push_back(i);
  }
  const bool is_only = with_lines.size() == 1;
  if (!is_only && !verdict.rank) return;
  const size_t of = is_only ? with_lines[0] : *verdict.rank;
  const Rank& rank = evidence.ranks[of];
  if (!HasFailed(rank) || rank.exit_code.value_or(1) >= kSignalBase) return;
  const Line* const lost = LostLossIn(rank.lines);
  if (lost == nullptr) return;
  verdict.title = "its loss had become NaN or infinite, and it ended without a word about it";
  verdict.evidence.insert(verdict.evidence.begin(),
                          {lost->time, NameOf(rank), std::string(base::Trim(lost->text))});
  verdict.line = base::Trim(std::string_view(lost->text).substr(0, 400));
  verdict.rank = of;
  verdict.advice_text =
      "If the program stops at such a loss: lower the learning rate, clip gradients, look at the "
      "data of that step. Let it raise an exception that says so.";
}

}  // namespace answers
