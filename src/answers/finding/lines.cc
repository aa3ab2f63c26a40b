#include "answers/finding/lines.h"

#include <algorithm>
#include <set>
#include <string>

#include "answers/program_words.h"
#include "answers/rule_words.h"
#include "answers/symptoms.h"
#include "base/strings.h"

namespace answers {
namespace {

// libstdc++'s words about a thread that still runs when its object is destroyed. Where Python then
// reports the end, it was native code's.
constexpr std::string_view kThreadLeft = "terminate called without an active exception";
constexpr int kNoProgram = 127;  // as a shell's exit code

// Returns the line up to which a missing file is a missing program, because a shell's exit status
// below says so; 0 if there is no such status.
size_t NoProgramUntil(const RankLog& log) {
  if (log.rank().exit_code == kNoProgram) return log.lines().size();
  size_t until = log.lines().size();
  while (until > 0 && !ReportsMissingProgram(log.lines()[until - 1].text)) --until;
  return until;
}

// Whether the program repeats, behind this line, something that it otherwise says only before its
// first step.
bool BeginsAnew(const RankLog& log, size_t line) {
  constexpr size_t kFewestLetters = 12;
  const auto begin = log.lines().begin();
  const auto end = begin + static_cast<ptrdiff_t>(line);
  const auto step =
      std::find_if(begin, end, [](const Line& each) { return IsProgress(each.text); });
  std::set<std::string_view> said;
  for (auto each = begin; each != step; ++each) {
    if (each->text.size() >= kFewestLetters && !IsOfLauncher(each->text)) said.insert(each->text);
  }
  for (auto each = step; each != end; ++each) said.erase(each->text);
  return std::any_of(end + 1, log.lines().end(),
                     [&said](const Line& each) { return said.contains(each.text); });
}

// A scheduler's word ends a job, unless the program succeeds after it or the scheduler starts the
// job once more.
bool IsLastOfScheduler(const RankLog& log, size_t line) {
  return IsOfScheduler(log.lines()[line].text) &&
         std::none_of(log.lines().begin() + static_cast<ptrdiff_t>(line), log.lines().end(),
                      [](const Line& behind) { return ReportsSuccess(behind.text); }) &&
         !BeginsAnew(log, line);
}

// Whether srun itself ended the step in this line, because a task had failed.
bool IsOfSrun(const RankLog& log, size_t line) {
  return std::any_of(log.lines().begin(), log.lines().begin() + static_cast<ptrdiff_t>(line),
                     [](const Line& before) { return EndsStep(before.text); });
}

// Finds a rule for a line of a container's log that a plug-in of Slurm prints again after a
// failure.
const Rule* RuleForReprinted(std::string_view text) {
  constexpr std::string_view kPlugIn = "pyxis:     ";
  const size_t at = text.find(kPlugIn);
  if (at == std::string_view::npos) return nullptr;
  const Rule* const rule = RuleForWords(text.substr(at + kPlugIn.size()));
  return rule != nullptr && rule->level == Level::kDeciding ? rule : nullptr;
}

// c10d warns of each address that it tries, with the errno, and then says without one that it has
// given up. Finds a rule for the warnings above that line.
const Rule* RuleForGivenUp(const RankLog& log, size_t line) {
  constexpr size_t kFarthest = 8;
  constexpr std::string_view kSocket = "] [c10d] The ";
  constexpr std::string_view kGivenUp = " local network address.";
  if (!log.lines()[line].text.ends_with(kGivenUp)) return nullptr;
  for (size_t i = line; i-- > 0 && line - i <= kFarthest;) {
    const std::string_view text = log.lines()[i].text;
    const size_t at = text.find(kSocket);
    if (at == std::string_view::npos) continue;
    const Rule* const rule = RuleForWords(text.substr(at + kSocket.size()));
    if (rule != nullptr && rule->level == Level::kDeciding) return rule;
  }
  return nullptr;
}

// What pip's package names have in common: "Foo.Bar_Baz" is the folder "foo-bar-baz" of an index.
std::string FolderOfPackage(std::string_view requirement) {
  std::string folder = base::ToLower(requirement.substr(0, requirement.find_first_of(" [<>=!~;(")));
  std::replace_if(folder.begin(), folder.end(), [](char c) { return c == '_' || c == '.'; }, '-');
  return folder;
}

// The line, above pip's word that an index has no version of a package at all, in which pip says
// that it could not read the index' page of that package (pip/_internal/index/collector.py, and
// urllib3's retries).
std::optional<size_t> UnreadIndexAbove(const RankLog& log, size_t line) {
  constexpr std::string_view kNone = "Could not find a version that satisfies the requirement ";
  const std::string_view text = log.lines()[line].text;
  const size_t at = text.find(kNone);
  if (at == text.npos || text.find("(from versions: none)") == text.npos) return std::nullopt;
  const std::string page = "/" + FolderOfPackage(text.substr(at + kNone.size())) + "/";
  std::optional<size_t> retried;
  for (size_t i = line; i-- > 0;) {
    const std::string_view above = log.lines()[i].text;
    if (above.find(page) == above.npos) continue;
    if (above.find("Could not fetch URL ") != above.npos) return i;
    if (above.find("Retrying (Retry(total=") != above.npos && !retried) retried = i;
  }
  return retried;
}

// Takes what kept pip from the page: its line, unless that is only a warning.
void TakeUnreadIndex(const RankLog& log, size_t page, Finding& finding) {
  const std::string& text = log.lines()[page].text;
  const auto is_of_network = [](const Rule* rule) {
    return rule != nullptr && (rule->kind == "download" || rule->kind == "dns");
  };
  const Rule* rule = RuleForWords(text);
  if (!is_of_network(rule) && text.find("confirming the ssl certificate") != text.npos) {
    rule = &RuleNamed("certificate");
  }
  const std::string said = finding.line;
  finding = log.TakeLine(page, is_of_network(rule) ? *rule : RuleNamed("download"));
  if (IsWarning(text)) finding.line = said;
}

// Includes what NCCL says in the lines below.
const Rule* RuleForCarried(const RankLog& log, size_t line) {
  const std::string_view carried = CarriedException(log.lines()[line].text);
  return carried.empty() ? nullptr : RuleForException(log.WithLinesBelow(carried, line));
}

// libstdc++ and libc++abi say first that an exception ends the program, and then its message.
bool IsHeadingOfUncaught(std::string_view text) {
  return text.starts_with("terminate called after throwing an instance of ");
}

// Takes the message below such a heading, which no rule knows, as the line that says most.
void TakeUncaught(const RankLog& log, size_t heading, Finding& finding) {
  const size_t below = heading + 1;
  if (!IsHeadingOfUncaught(log.lines()[heading].text) || below == log.lines().size()) return;
  const std::string_view text = base::Trim(log.lines()[below].text);
  if (text.starts_with("what():  ")) finding.line = text.substr(0, 400);
}

}  // namespace

std::optional<Finding> FindInLines(const RankLog& log, size_t end) {
  std::optional<Finding> best;
  size_t best_at = 0;
  const size_t no_program_until = NoProgramUntil(log);
  for (size_t i = 0; i < end; ++i) {
    const std::string& text = log.lines()[i].text;
    const bool is_kernels = text.find("NVRM: ") != std::string::npos;
    const bool is_passed = i < log.working_until();
    if (text.empty() || log.IsInChain(i) || IsWarning(text) || log.IsOvertaken(i) ||
        (is_passed && !is_kernels && !IsLastOfScheduler(log, i))) {
      continue;
    }
    const Rule* rule = RuleForLine(text);
    if (rule == nullptr) rule = RuleForEscaped(text);
    if (rule == nullptr) rule = RuleForCarried(log, i);
    if (rule == nullptr) rule = RuleForReprinted(text);
    if (rule == nullptr) rule = RuleForGivenUp(log, i);
    if (rule != nullptr && rule->name == "native-abort" && log.Before(i) == kThreadLeft) {
      rule = &RuleNamed("native-abort-signal");
    }
    const bool may_be_file = rule == nullptr || rule->kind == "file-missing";
    if (may_be_file && i < no_program_until && IsMissingOfShell(text)) {
      rule = &RuleNamed("program-missing");
    }
    const bool is_of_dash = rule == nullptr && IsMissingOfDash(text);
    if (is_of_dash) rule = &RuleNamed("program-missing");
    if (rule == nullptr || log.IsOfFabricThatWentOn(i)) continue;
    if (rule->level != Level::kDeciding && SaysItRetries(text)) continue;
    // A script goes on without a tool that only shows what the machine is like.
    const bool is_of_tool = rule->kind == "program-missing" && NamesMissingTool(text);
    if (is_of_tool && i >= no_program_until && !log.IsEnd(i + 1)) continue;
    const bool is_message =
        best && i == best_at + 1 && IsHeadingOfUncaught(log.lines()[best_at].text);
    const bool is_better =
        !best || rule->level < best->level || rule->Overrules(best->kind) || is_message;
    if (!is_better) continue;
    if (IsEndForTask(text) || (IsEndOfStep(text) && IsOfSrun(log, i))) continue;
    best = log.TakeLine(i, *rule);
    best_at = i;
    TakeUncaught(log, i, *best);
    if (const auto page = UnreadIndexAbove(log, i)) TakeUnreadIndex(log, *page, *best);
    if ((is_passed && !is_kernels) || (is_of_dash && i >= no_program_until)) {
      best->confidence = std::min(best->confidence, Confidence::kMedium);
    }
  }
  return best;
}

std::optional<Finding> FindPassedByKernel(const RankLog& log) {
  for (size_t i = log.working_until(); i-- > 0;) {
    const Rule* const rule = log.IsInChain(i) ? nullptr : RuleForWitness(log.lines()[i].text);
    if (ReportsSuccess(log.lines()[i].text)) return std::nullopt;
    if (rule == nullptr) continue;
    Finding found = log.TakeLine(i, *rule);
    found.confidence = std::min(found.confidence, Confidence::kMedium);
    return found;
  }
  return std::nullopt;
}

std::optional<Finding> FindPassedByNccl(const RankLog& log) {
  for (size_t i = log.working_until(); i-- > 0;) {
    const std::string& text = log.lines()[i].text;
    if (text.find("NCCL WARN ") == std::string::npos || log.IsInChain(i) || IsWarning(text))
      continue;
    const Rule* const rule = RuleForLine(text);
    if (rule == nullptr || rule->level != Level::kDeciding) continue;
    Finding found = log.TakeLine(i, *rule);
    found.confidence = std::min(found.confidence, Confidence::kMedium);
    return found;
  }
  return std::nullopt;
}

}  // namespace answers
