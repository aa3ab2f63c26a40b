#include "answers/finding/loose_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

#include "answers/chain_finding.h"
#include "answers/exit_finding.h"
#include "answers/log/mpi_words.h"
#include "answers/program_words.h"
#include "answers/rule_words.h"
#include "answers/symptoms.h"
#include "base/strings.h"

namespace answers {
namespace {

constexpr size_t kLastWords = 6;
constexpr size_t kLooseLines = 60;
constexpr std::string_view kFrameOfCpp = "frame #";  // of c10's stacks

// Whether the line stands where a traceback names its exception, with the type left out.
bool EndsFrames(const RankLog& log, size_t line) {
  const std::string_view text = log.lines()[line].text;
  if (text.empty() || text[0] == ' ') return false;
  for (size_t i = line; i-- > 0 && log.lines()[i].text.starts_with(' ');) {
    if (!ReadFrame(log.lines()[i].text).file.empty()) return true;
  }
  return false;
}

// Whether the line says nothing, or belongs to a report about an end: to a traceback, a stack of
// C++, or a launcher's words.
bool IsOfReport(const RankLog& log, size_t line) {
  const std::string_view text = base::Trim(log.lines()[line].text);
  return SaysNothing(text) || text.starts_with(kFrameOfCpp) || IsOfLauncher(text) ||
         log.IsInChain(line);
}

template <typename Predicate>
std::optional<Finding> ReadLooseOf(const RankLog& log, Predicate is_asked) {
  size_t first = log.lines().size();
  for (size_t words = 0; first > log.working_until() && words < kLooseLines; --first) {
    words += IsOfReport(log, first - 1) ? 0 : 1;
  }
  for (size_t i = first; i < log.lines().size(); ++i) {
    if (log.IsInChain(i) || !is_asked(i) || log.IsOvertaken(i)) continue;
    const std::string_view text = log.lines()[i].text;
    if (IsHandled(text) && log.WentOnAfter(text, false)) continue;
    if (log.IsOfFabricThatWentOn(i)) continue;
    const std::string whole = log.WithLinesBelow(text, i);
    // Python shows an object of an exception in this way.
    const std::string shown = GoesOnAnyway(text) ? "" : ShownException(whole);
    const Rule* rule = shown.empty() ? nullptr : RuleForException(shown);
    if (rule == nullptr || rule->level > Level::kSymptom)
      rule = RuleForWords(WithoutQuotedErrors(whole));
    if (rule != nullptr && rule->level <= Level::kSymptom) return log.TakeLoose(i, *rule);
  }
  return std::nullopt;
}

// Reads words that somebody has cut out of their exception, or that a program prints about it. A
// signal says more than such words.
std::optional<Finding> ReadBare(const RankLog& log) {
  if (log.rank().exit_code.value_or(0) >= kSignalBase) return std::nullopt;
  size_t begin = log.lines().size();
  for (size_t words = 0; begin > log.working_until() && words < kLastWords; --begin) {
    const std::string_view text = base::Trim(log.lines()[begin - 1].text);
    if (IsShellsWordOfASignal(text)) return std::nullopt;
    words += SaysNothing(text) || text.starts_with(kFrameOfCpp) ? 0 : 1;
  }
  const auto is_asked = [&log, begin](size_t line) {
    const std::string_view text = log.lines()[line].text;
    if (log.IsOfFabricThatWentOn(line)) return false;
    return line >= begin && !IsWarning(text) && !IsOfLauncher(text) && !IsProgress(text) &&
           !GoesOnAnyway(text);
  };
  if (auto found = ReadLooseOf(log, is_asked)) return found;
  for (size_t i = begin; i < log.lines().size(); ++i) {
    if (log.IsInChain(i) || !is_asked(i) || !MentionsTrouble(log.lines()[i].text)) continue;
    const Rule* const rule = RuleForBare(base::Trim(WithoutQuotedErrors(log.lines()[i].text)));
    if (rule != nullptr && rule->level <= Level::kSymptom) return log.TakeLoose(i, *rule);
  }
  return std::nullopt;
}

// What a launcher's report quotes is not a cause of its own, but it is used if nothing else was
// said.
std::optional<Finding> ReadReported(const RankLog& log) {
  for (size_t i = log.working_until(); i < log.lines().size(); ++i) {
    const std::string_view text = log.lines()[i].text;
    Raised raised;
    raised.text = ReportedIn(text);
    if (raised.text.empty() || log.IsInChain(i) || IsWarning(text) || IsAside(text) ||
        IsAboutAnother(raised))
      continue;
    const Rule* const rule = RuleForException(raised.text);
    if (rule != nullptr && rule->level > Level::kSymptom) continue;
    Finding finding = rule != nullptr ? log.TakeLine(i, *rule) : OwnException();
    finding.confidence = std::min(finding.confidence, Confidence::kMedium);
    finding.line = base::Trim(text.substr(0, 400));
    log.Place(finding, i);
    return finding;
  }
  return std::nullopt;
}

// Reads a traceback whose lines somebody has put into one. Its exception is one that no rule
// knows.
std::optional<Finding> ReadFlattened(const RankLog& log) {
  for (size_t i = log.working_until(); i < log.lines().size(); ++i) {
    const std::string_view text = log.lines()[i].text;
    Chain chain;
    chain.raised.emplace_back().text = FlattenedIn(text);
    if (chain.raised.front().text.empty() || log.IsInChain(i) || IsWarning(text)) continue;
    if (IsReport(chain) || IsAboutAnother(chain.raised.front())) continue;
    Finding finding = OwnException();
    finding.confidence = Confidence::kMedium;
    finding.line = chain.raised.front().text;
    log.Place(finding, i);
    return finding;
  }
  return std::nullopt;
}

// After these errors a process cannot use the GPU any more (cudaError_t in CUDA's documentation):
// what calls one a warning ends nevertheless.
std::optional<Finding> ReadCudasLast(const RankLog& log) {
  static constexpr auto kLast = std::to_array<std::string_view>(
      {"CUDA error: an illegal memory access was encountered",
       "CUDA error: device-side assert triggered", "CUDA error: unspecified launch failure",
       "CUDA error: misaligned address", "CUDA error: an illegal instruction was encountered"});
  for (size_t i = log.working_until(); i < log.lines().size(); ++i) {
    if (log.IsInChain(i)) continue;
    const std::string_view text = log.lines()[i].text;
    for (const std::string_view words : kLast) {
      const size_t at = text.find(words);
      const Rule* const rule =
          at == std::string_view::npos ? nullptr : RuleForException(text.substr(at));
      if (rule != nullptr) return log.TakeLoose(i, *rule);
    }
  }
  return std::nullopt;
}

bool CallsMpiAbort(std::string_view text) {
  return text.find("application called MPI_Abort(") != std::string_view::npos ||
         text.find("MPI_ABORT was invoked on rank ") != std::string_view::npos;
}

// Whether the code in the message of MPI_Abort that begins here is 0.
bool AbortsWithZero(const RankLog& log, size_t line) {
  constexpr size_t kLines = 3;
  std::vector<std::string_view> message;
  for (size_t i = line; i < std::min(line + kLines, log.lines().size()); ++i) {
    message.emplace_back(log.lines()[i].text);
  }
  const auto row = ReadMpiAbort(message, 0);
  return row && !row->exit_code;
}

// Returns what the program says of an error in a form of its own: "ERROR: boom", "** ERROR  :
// boom", "Error in routine davcio (3):" and "*** ERROR ***", whose message is the next line; "" for
// another line, also for MPI's.
std::string OwnErrorAt(const RankLog& log, size_t line) {
  constexpr std::string_view kAround = " \t*#%!-=<>[]:";
  static constexpr auto kWords =
      std::to_array<std::string_view>({"ERROR", "Error", "FATAL", "Fatal"});
  const std::string_view text = log.lines()[line].text;
  const size_t begin = std::min(text.find_first_not_of(kAround), text.size());
  std::string_view words = text.substr(begin);
  const auto word = std::find_if(kWords.begin(), kWords.end(), [words](std::string_view each) {
    return words.starts_with(each) &&
           (words.size() == each.size() ||
            std::isalnum(static_cast<unsigned char>(words[each.size()])) == 0);
  });
  const bool is_value = MentionsFailure(text) && OnlySpeaksOfFailure(text);  // "Error = 1.2e-3"
  if (word == kWords.end() || words.starts_with("Fatal error in ") || IsWarning(text) ||
      GoesOnAnyway(text) || is_value) {
    return "";
  }
  words = words.substr(0, words.find_last_not_of(kAround) + 1);
  const bool is_below = base::Trim(text).ends_with(':') || words.size() == word->size();
  std::string error(base::Trim(text));
  for (size_t below = line + 1; is_below && below < log.lines().size(); ++below) {
    const std::string_view more = base::Trim(log.lines()[below].text);
    if (more.empty()) continue;
    if (!CallsMpiAbort(more)) error.append(" ").append(more);
    break;
  }
  return error.substr(0, 400);
}

}  // namespace

std::optional<Finding> FindInLooseWords(const RankLog& log) {
  const auto is_stores = [&log](size_t line) {  // a warning of c10d counts only as a last word
    const std::string& text = log.lines()[line].text;
    return line + kLastWords >= log.lines().size() && text.find("[c10d]") != std::string::npos &&
           text.find("The IPv6 network addresses of") == std::string::npos;  // IPv4 comes next
  };
  if (auto found = ReadLooseOf(log, [&log](size_t line) {
        return MentionsFailure(log.lines()[line].text) || EndsFrames(log, line);
      })) {
    return found;
  }
  if (auto found = ReadCudasLast(log)) return found;
  if (auto found = ReadLooseOf(log, is_stores)) {
    found->confidence = Confidence::kLow;  // it tries again until it gives up, which is not said
    found->is_doubtful = true;
    return found;
  }
  if (auto found = ReadReported(log)) return found;
  if (auto found = ReadFlattened(log)) return found;
  return ReadBare(log);
}

std::optional<Finding> FindBeforeMpiAbort(const RankLog& log) {
  constexpr size_t kFarthest = 12;  // lines that are not empty
  constexpr size_t kNear = 5;  // with the error's own; the program may have gone on before more
  const auto& lines = log.lines();
  size_t abort = log.working_until();
  while (abort < lines.size() &&
         (!CallsMpiAbort(lines[abort].text) || AbortsWithZero(log, abort))) {
    ++abort;
  }
  if (abort == lines.size()) return std::nullopt;
  for (size_t i = abort, passed = 0; i-- > log.working_until() && passed < kFarthest;) {
    if (log.IsInChain(i)) return std::nullopt;
    passed += base::Trim(lines[i].text).empty() ? 0 : 1;
    std::string error = OwnErrorAt(log, i);
    if (error.empty()) continue;
    const Rule* const rule = RuleForWords(error);
    if (rule != nullptr && rule->level != Level::kDeciding) return std::nullopt;
    Finding finding = OwnException();
    if (rule != nullptr) finding.Take(*rule);
    finding.confidence = passed <= kNear ? Confidence::kMedium : Confidence::kLow;
    finding.words.push_back(error);
    finding.line = std::move(error);
    log.Place(finding, i);
    return finding;
  }
  return std::nullopt;
}

}  // namespace answers
