#include "answers/finding/exceptions.h"

#include <algorithm>
#include <array>
#include <csignal>

#include "answers/chain_finding.h"
#include "answers/exit_finding.h"
#include "answers/has_any.h"
#include "answers/program_words.h"
#include "answers/rule_words.h"
#include "answers/symptoms.h"
#include "base/launcher_report.h"
#include "base/strings.h"

namespace answers {
namespace {

constexpr size_t kEvidenceLines = 60;

// "ValueError: boom"
std::string_view Exception(const Chain& chain) {
  const std::string_view text = chain.raised.back().text;
  return text.substr(0, text.find('\n'));
}

// Whether a queue's thread has lost the process that reads from the queue. What else that thread
// raises may be why others wait.
bool IsOfLostReader(const Chain& chain) {
  const std::vector<Frame>& frames = chain.raised.front().frames;
  const Rule* const rule = RuleFor(chain.raised.back());
  return !frames.empty() && IsOfFeeder(frames.front()) && rule != nullptr &&
         rule->level == Level::kPeerLost;
}

bool IsBehindWarning(const RankLog& log, const Chain& chain) {
  return IsDoubtful(log.Before(chain.begin)) && !log.IsEnd(chain.end);
}

// Whether this is an exception's line without a traceback, unknown to all rules, with more lines
// after it: a shell or a tool printed it, and the program went on.
bool IsLone(const RankLog& log, const Chain& chain) {
  const Raised& raised = chain.raised.front();
  return chain.raised.size() == 1 && raised.frames.empty() && raised.line == chain.begin &&
         RuleFor(raised) == nullptr && !log.IsEnd(chain.end);
}

// Whether this is an exception's line without a traceback, with a warning below it that something
// did not succeed: the program prints why, and goes on without it.
bool IsWarnedOf(const RankLog& log, const Chain& chain) {
  static constexpr auto kWithout =
      std::to_array<std::string_view>({"ailed to ", "ould not ", "nable to "});
  const Raised& raised = chain.raised.front();
  if (chain.raised.size() != 1 || !raised.frames.empty()) return false;
  for (size_t i = chain.end; i < log.lines().size(); ++i) {
    const std::string_view text = log.lines()[i].text;
    if (base::Trim(text).empty()) continue;
    return text.find("Warning: ") != std::string_view::npos && HasAny(text, kWithout);
  }
  return false;
}

// Whether the program says that one of its children failed.
bool IsOfParent(const Chain& chain) {
  const std::string_view type = chain.raised.back().Type();
  return chain.raised.size() == 1 &&
         (type.ends_with("CalledProcessError") || type == "ProcessRaisedException");
}

// The rule for the line of a program that ends with the C library's text about an error.
const Rule* RuleForTool(std::string_view text) {
  for (const std::string_view error :
       {"[Errno 2] No such file or directory", "[Errno 13] Permission denied"}) {
    if (text.ends_with(error.substr(error.find(']') + 1))) return RuleForBare(error);
  }
  return RuleForWords(text);
}

// Where the program called its child.
Frame PlaceOfCall(const Chain& parent) {
  const auto raised = FindInChain(parent);
  return raised ? raised->finding.frame : Frame{};
}

// torch.multiprocessing.spawn repeats the child's traceback below its own exception. Returns what
// the rest of it says, if the log has lost its beginning or parts of it.
std::optional<Finding> ReadCutChild(const RankLog& log, const Chain& parent) {
  for (size_t i = parent.end; i < log.lines().size() && !log.IsInChain(i); ++i) {
    const std::string_view text = log.lines()[i].text;
    if (IsWarning(text) || IsAside(text)) continue;
    const Rule* const rule = MentionsFailure(text) ? RuleForWords(text) : nullptr;
    if (rule != nullptr && rule->level == Level::kDeciding) return log.TakeLoose(i, *rule);
  }
  return std::nullopt;
}

// Returns what the child said before that: the nearest error line without a traceback that a rule
// knows, or else the nearest one.
std::optional<Finding> ReadChild(const RankLog& log, const Chain& parent) {
  constexpr size_t kFarthest = 20;
  const std::string_view type = parent.raised.back().Type();
  // Ray's SubprocessCalledProcessError has the child's output below it, too.
  if (type == "ProcessRaisedException" || type.starts_with("Subprocess")) {
    return ReadCutChild(log, parent);
  }
  const std::string program(ProgramOfCommand(parent.raised.back().text));
  std::optional<Finding> last;
  for (size_t i = parent.begin; i-- > 0 && parent.begin - i <= kFarthest && !log.IsInChain(i);) {
    const std::string_view text = base::Trim(log.lines()[i].text);
    // "tar: data.tar: Cannot open: No such file or directory"
    const bool is_programs = !program.empty() && text.starts_with(program + ": ");
    if ((!IsErrorLine(text) && !is_programs) || IsWarning(text)) continue;
    const Rule* const rule = is_programs ? RuleForTool(text) : RuleForWords(text);
    const bool is_known = rule != nullptr && rule->level == Level::kDeciding;
    if (last && !is_known) continue;
    Finding found = is_known ? log.TakeLine(i, *rule) : OwnException();
    found.confidence = Confidence::kMedium;
    found.line = text.substr(0, 400);
    log.Place(found, i);
    last = std::move(found);
    if (is_known) break;
  }
  if (last && last->frame.file.empty()) last->frame = PlaceOfCall(parent);
  return last;
}

// Asks the rules for the whole message, if its first line is all that the exception has.
void TakeWrapped(const RankLog& log, Finding& finding, size_t line) {
  const Rule* rule = nullptr;
  for (const std::string_view between : {" ", ""}) {
    const std::string message = WrappedMessage(log.lines(), line, between);
    if (rule == nullptr && !message.empty()) rule = RuleForException(message);
  }
  if (rule == nullptr) return;
  finding.Take(*rule);
  finding.confidence = std::min(finding.confidence, Confidence::kMedium);
}

// torch.compile runs the program's code itself: the program's own lines stand below its
// exception, which may be the next one after `chain` in log.chains().
Frame TracedFrame(const RankLog& log, const Chain& chain) {
  const auto next = static_cast<size_t>(&chain - log.chains().data()) + 1;
  const size_t end =
      next + 1 < log.chains().size() ? log.chains()[next + 1].begin : log.lines().size();
  size_t line = chain.end;
  while (line < end && log.lines()[line].text != "from user code:") ++line;
  if (line >= end) return {};
  const std::string& above = log.LastChainFrom(line)->raised.back().text;
  if (!above.starts_with("torch._dynamo.")) return {};
  Frame innermost;
  for (++line; line < log.lines().size() && log.lines()[line].text.starts_with(' '); ++line) {
    const Frame frame = ReadFrame(log.lines()[line].text);
    if (!frame.file.empty() && frame.IsUsers()) innermost = frame;
  }
  return innermost;
}

}  // namespace

const Chain* LaunchersChain(const RankLog& log) {
  const auto& lines = log.lines();
  for (size_t i = lines.size(); i-- > 1;) {
    if (lines[i - 1].text.find(base::kReportHeading) == std::string::npos) continue;
    std::string_view why = base::Trim(lines[i].text);
    if (!why.starts_with(base::kReportWhy)) continue;
    why.remove_prefix(base::kReportWhy.size());
    const bool is_cut = why.ends_with("...");
    if (is_cut) why.remove_suffix(3);
    const auto found =
        std::find_if(log.chains().begin(), log.chains().end(), [=](const Chain& chain) {
          const bool is_it = is_cut ? Exception(chain).starts_with(why) : Exception(chain) == why;
          return chain.end <= i && !why.empty() && is_it;
        });
    return found == log.chains().end() ? nullptr : &*found;
  }
  return nullptr;
}

bool IsDoubtful(const RankLog& log, const Chain& chain, const Chain* launchers) {
  return IsBehindWarning(log, chain) || IsLone(log, chain) || IsWarnedOf(log, chain) ||
         IsOfParent(chain) || (launchers != nullptr && &chain != launchers);
}

namespace {

// Whether the exception's process ended by an exit code, as torchrun says below the traceback.
bool EndedBeforeTable(const RankLog& log, const Chain& chain) {
  if (WasCaught(chain)) return false;
  const auto& lines = log.lines();
  const auto has_exit = [&lines](size_t from) {
    return std::any_of(lines.begin() + static_cast<ptrdiff_t>(from), lines.end(),
                       [](const Line& line) { return ReportsExit(line.text); });
  };
  for (size_t i = chain.end; i < lines.size(); ++i) {
    const std::string_view text = lines[i].text;
    if (SaysNothing(text) || IsOfLauncher(text)) continue;
    const Chain* const next = log.LastChainFrom(i);
    return next != nullptr && next->begin == i && IsReport(*next) && has_exit(chain.end);
  }
  return false;
}

}  // namespace

std::optional<Finding> FindInException(const RankLog& log, const Chain& chain) {
  const std::string_view before = log.Before(chain.begin);
  // A status may be all that says what ended the program.
  const Rule* const of_last = RuleFor(chain.raised.back());
  const bool is_of_status = of_last != nullptr && (of_last->name.starts_with("windows-") ||
                                                   of_last->name == "exit-crash");
  const bool is_report = IsReport(chain) && !is_of_status;
  if (is_report || IsBeforeAside(before) || IsOfDestructor(chain) || IsOfLostReader(chain)) {
    return std::nullopt;
  }
  const bool may_be_handled = IsHandled(before) && !EndedBeforeTable(log, chain);
  if (may_be_handled && (!log.IsEnd(chain.end) || log.WentOnAfter(before, true))) {
    return std::nullopt;
  }
  auto found = FindInChain(chain);
  if (!found) return std::nullopt;
  Finding finding = std::move(found->finding);
  if (finding.frame.file.empty()) finding.frame = TracedFrame(log, chain);
  const Chain* const next = &chain == &log.chains().back() ? nullptr : &chain + 1;
  if (finding.frame.file.empty() && next != nullptr && next->begin == chain.end &&
      IsOfParent(*next)) {
    finding.frame = PlaceOfCall(*next);
  }
  const Raised* const deciding = found->deciding;
  if (finding.rule.empty() || found->is_by_words) TakeWrapped(log, finding, deciding->line);
  log.Place(finding, deciding->line);
  if (IsWarnedOf(log, chain)) {
    finding.is_doubtful = true;
    finding.confidence = Confidence::kLow;
  }
  // Such an exception does not end a program; something else has ended this one.
  if (before.starts_with("Exception in thread ") && log.rank().exit_code == kSignalBase + SIGTERM) {
    finding.level = std::max(finding.level, Level::kSymptom);
    finding.confidence = std::min(finding.confidence, Confidence::kMedium);
  }
  // These are the last lines up to the exception that decides: its innermost frames and its
  // message.
  const size_t begin = std::max(
      chain.begin, deciding->line > kEvidenceLines ? deciding->line - kEvidenceLines + 1 : 0);
  for (size_t i = begin; i <= deciding->line; ++i) finding.words.push_back(log.lines()[i].text);
  return finding;
}

std::optional<Finding> FindInDoubtful(const RankLog& log, const Chain& chain,
                                      const Chain* launchers) {
  auto found = IsOfParent(chain) ? ReadChild(log, chain) : std::nullopt;
  if (!found) found = FindInException(log, chain);
  // Its report quotes the exception that it names.
  if (found && launchers != nullptr && Exception(chain) != Exception(*launchers)) {
    found->is_of_any_rank = true;
    found->confidence = std::min(found->confidence, Confidence::kMedium);
  }
  return found;
}

std::optional<Finding> FindBeforeOthersWork(const RankLog& log) {
  const auto last =
      std::find_if(log.chains().rbegin(), log.chains().rend(), [&log](const Chain& chain) {
        return chain.begin < log.working_until() && !IsHandled(log.Before(chain.begin));
      });
  if (last == log.chains().rend()) return std::nullopt;
  const auto behind = [&log, last](auto predicate) {
    return std::any_of(log.lines().begin() + static_cast<ptrdiff_t>(last->end), log.lines().end(),
                       predicate);
  };
  const bool has_ended = behind([](const Line& line) { return ReportsExit(line.text); });
  // The traceback of another rank, whose end the log does not have.
  const bool is_cut = behind([](const Line& line) { return line.text == kTracebackHeader; });
  auto found = has_ended || is_cut ? FindInException(log, *last) : std::nullopt;
  if (found && !has_ended && (found->rule.empty() || found->level != Level::kDeciding)) {
    return std::nullopt;
  }
  if (found) found->confidence = std::min(found->confidence, Confidence::kMedium);
  return found;
}

}  // namespace answers
