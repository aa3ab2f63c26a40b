#include "answers/finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>
#include <set>
#include <tuple>

#include "answers/chain_finding.h"
#include "answers/exit_finding.h"
#include "answers/program_words.h"
#include "answers/rule_words.h"
#include "answers/symptoms.h"
#include "answers/unknown_host.h"
#include "base/strings.h"

namespace answers {
namespace {

constexpr size_t kEvidenceLines = 60;
constexpr size_t kLastWords = 6;
constexpr size_t kLooseLines = 60;
constexpr std::string_view kFrameOfCpp = "frame #";  // of c10's stacks
constexpr int kNoProgram = 127;                      // as a shell's exit code

class RankReader {
 public:
  explicit RankReader(const Rank& rank)
      : rank_(rank), chains_(FindChains(rank.lines)), ended_waits_(EndedWaitsOf(rank.lines)) {
    std::set<std::string_view> counters;
    for (size_t i = 0; i < rank_.lines.size(); ++i) {
      const std::string_view text = rank_.lines[i].text;
      const bool is_work = IsProgress(text) || (rank_.rank && BeginsWork(text));
      if (text.empty() || !is_work || IsInChain(i)) continue;
      // A program that ends draws its bar once more, which is no new work.
      const std::string_view counter = CounterOfBar(text);
      if (IsLoneLastLine(i)) continue;
      if (counter.empty() || counters.insert(counter).second) working_until_ = i + 1;
    }
    ReadBehindFabric();
  }

  std::optional<Finding> Read() {
    std::optional<Finding> best;
    const auto offer = [&best](std::optional<Finding> other) {
      if (other && (!best || IsBefore(*other, *best))) best = std::move(other);
    };
    const auto is_open = [&best] { return !best || best->level != Level::kDeciding; };
    const Chain* const launchers = LaunchersChain();
    const auto is_doubtful = [this, launchers](const Chain& chain) {
      return IsBehindWarning(chain) || IsLone(chain) || IsOfParent(chain) ||
             (launchers != nullptr && &chain != launchers);
    };
    const std::optional<size_t> stopped = StoppedAt();
    // What looks like work below the launcher's may be a note that belongs to it.
    const auto is_asked = [&](const Chain& chain) {
      return (chain.begin >= working_until_ || &chain == launchers) &&
             (!stopped || chain.begin < *stopped);
    };
    for (const Chain& chain : chains_) {
      if (is_asked(chain) && !is_doubtful(chain)) offer(ReadChain(chain));
    }
    auto lines = ReadLines(stopped.value_or(rank_.lines.size()));
    if (best && lines && Overrules(lines->kind, best->kind)) return lines;
    offer(std::move(lines));
    for (const Chain& chain : chains_) {
      if (!is_open() || !is_asked(chain) || !is_doubtful(chain)) continue;
      auto found = IsOfParent(chain) ? ReadChild(chain) : std::nullopt;
      if (!found) found = ReadChain(chain);
      // Its report quotes the exception that it names.
      if (found && launchers != nullptr && Exception(chain) != Exception(*launchers)) {
        found->is_of_any_rank = true;
        found->confidence = std::min(found->confidence, Confidence::kMedium);
      }
      offer(std::move(found));
    }
    if (stopped) {
      offer(TakeLine(*stopped, RuleNamed("stopped")));
      return best;
    }
    if (is_open()) offer(ReadBeforeOthersWork());
    if (is_open()) offer(ReadPassedByKernel());
    if (!best || (best->kind == kUnknown && !IsConsequence(best->level))) offer(ReadLoose());
    if (best && best->kind == "unreachable") {
      if (const auto line = LineOfUnknownHost(rank_.lines, best->line)) {
        const Frame frame = best->frame;
        best = TakeLine(*line, RuleNamed("dns"));
        best->frame = frame;
      }
    }
    return best;
  }

  std::optional<std::pair<size_t, size_t>> FirstError() const {
    const auto chain = std::find_if(chains_.begin(), chains_.end(), [this](const Chain& each) {
      return ReadChain(each).has_value();
    });
    const size_t until = chain == chains_.end() ? rank_.lines.size() : chain->begin;
    for (size_t i = 0; i < until; ++i) {
      const std::string& text = rank_.lines[i].text;
      if (text.empty() || IsInChain(i) || IsWarning(text)) continue;
      const Rule* const rule = RuleForLine(text);
      if (rule != nullptr && !IsConsequence(rule->level)) return std::pair(i, i + 1);
    }
    if (chain == chains_.end()) return std::nullopt;
    return std::pair(chain->begin, chain->end);
  }

  std::optional<Finding> ReadPassedByNccl() const {
    for (size_t i = working_until_; i-- > 0;) {
      const std::string& text = rank_.lines[i].text;
      if (text.find("NCCL WARN ") == std::string::npos || IsInChain(i) || IsWarning(text)) continue;
      const Rule* const rule = RuleForLine(text);
      if (rule == nullptr || rule->level != Level::kDeciding) continue;
      Finding found = TakeLine(i, *rule);
      found.confidence = std::min(found.confidence, Confidence::kMedium);
      return found;
    }
    return std::nullopt;
  }

 private:
  // If a rank gave up after it had lost a peer or been told to end, that event was the cause.
  static bool IsBefore(const Finding& one, const Finding& other) {
    const auto is_because_of = [](const Finding& late, const Finding& early) {
      return late.level == Level::kUndecided && IsConsequence(early.level) &&
             early.order < late.order;
    };
    if (is_because_of(one, other)) return false;
    if (is_because_of(other, one)) return true;
    return std::tuple(one.level, one.order) < std::tuple(other.level, other.order);
  }

  // Returns the line where somebody pressed Ctrl-C and the program did no more work; exceptions
  // after it are consequences.
  std::optional<size_t> StoppedAt() const {
    for (size_t i = working_until_ == 0 ? 0 : working_until_ - 1; i < rank_.lines.size(); ++i) {
      if (rank_.lines[i].text.starts_with("^C")) return i;
    }
    return std::nullopt;
  }

  // "ValueError: boom"
  static std::string_view Exception(const Chain& chain) {
    const std::string_view text = chain.raised.back().text;
    return text.substr(0, text.find('\n'));
  }

  // If all ranks write to one log, muster-launch knows the exception that ended the rank that
  // failed first: others may be of a thread, or of a rank that went on. Null if it names none.
  const Chain* LaunchersChain() const {
    constexpr std::string_view kWhy = "  why       : ";
    const auto& lines = rank_.lines;
    for (size_t i = lines.size(); i-- > 1;) {
      if (lines[i - 1].text.find(" failed first (local rank ") == std::string::npos) continue;
      if (!lines[i].text.starts_with(kWhy)) continue;
      const std::string_view why = std::string_view(lines[i].text).substr(kWhy.size());
      const auto found = std::find_if(chains_.begin(), chains_.end(), [why, i](const Chain& chain) {
        return chain.end <= i && !why.empty() && Exception(chain) == why;
      });
      return found == chains_.end() ? nullptr : &*found;
    }
    return nullptr;
  }

  // Whether this is an exception's line without a traceback, unknown to all rules, with more lines
  // after it: a shell or a tool printed it, and the program went on.
  bool IsLone(const Chain& chain) const {
    const Raised& raised = chain.raised.front();
    return chain.raised.size() == 1 && raised.frames.empty() && raised.line == chain.begin &&
           RuleFor(raised) == nullptr && !IsEnd(chain.end);
  }

  // Whether the program says that one of its children failed.
  static bool IsOfParent(const Chain& chain) {
    const std::string_view type = chain.raised.back().Type();
    return chain.raised.size() == 1 &&
           (type == "CalledProcessError" || type == "ProcessRaisedException");
  }

  // Returns what the child said before that: the nearest error line without a traceback that a rule
  // knows, or else the nearest one.
  std::optional<Finding> ReadChild(const Chain& parent) const {
    constexpr size_t kFarthest = 20;
    if (parent.raised.back().Type() == "ProcessRaisedException") return ReadCutChild(parent);
    std::optional<Finding> last;
    for (size_t i = parent.begin; i-- > 0 && parent.begin - i <= kFarthest && !IsInChain(i);) {
      const std::string_view text = base::Trim(rank_.lines[i].text);
      if (!IsErrorLine(text) || IsWarning(text)) continue;
      const Rule* const rule = RuleForWords(text);
      const bool is_known = rule != nullptr && rule->level == Level::kDeciding;
      if (last && !is_known) continue;
      Finding found = is_known ? TakeLine(i, *rule) : OwnException();
      found.confidence = Confidence::kMedium;
      found.line = text.substr(0, 400);
      Place(found, i);
      last = std::move(found);
      if (is_known) break;
    }
    return last;
  }

  // torch.multiprocessing.spawn repeats the child's traceback below its own exception. Returns what
  // the rest of it says, if the log has lost its beginning or parts of it.
  std::optional<Finding> ReadCutChild(const Chain& parent) const {
    for (size_t i = parent.end; i < rank_.lines.size() && !IsInChain(i); ++i) {
      const std::string_view text = rank_.lines[i].text;
      if (IsWarning(text) || IsAside(text)) continue;
      const Rule* const rule = MentionsFailure(text) ? RuleForWords(text) : nullptr;
      if (rule != nullptr && rule->level == Level::kDeciding) return TakeLoose(i, *rule);
    }
    return std::nullopt;
  }

  bool IsWaitThatEnded(size_t line) const { return !ended_waits_.empty() && ended_waits_[line]; }

  bool IsInChain(size_t line) const {
    const Chain* const chain = LastChainFrom(line);
    return chain != nullptr && line < chain->end;
  }

  // Returns the last chain that begins in this line or before it; null if there is none.
  const Chain* LastChainFrom(size_t line) const {
    const auto next =
        std::upper_bound(chains_.begin(), chains_.end(), line,
                         [](size_t at, const Chain& chain) { return at < chain.begin; });
    return next == chains_.begin() ? nullptr : &*std::prev(next);
  }

  // Whether this line is all that follows a whole traceback: programs that buffer their output, or
  // draw a bar once more, print this much when they end.
  bool IsLoneLastLine(size_t line) const {
    const Chain* const before = LastChainFrom(line);
    const bool may_be = before != nullptr && !ReportsSuccess(rank_.lines[line].text);
    if (!may_be || !IsEnd(line + 1)) return false;
    if (rank_.lines[before->begin].text.find(kTracebackHeader) == std::string::npos) return false;
    for (size_t i = before->end; i < line; ++i) {
      if (!IsNothing(rank_.lines[i].text)) return false;
    }
    return true;
  }

  static bool IsNothing(std::string_view text) {
    return base::Trim(text).empty() || IsOfLauncher(text);
  }

  void Place(Finding& finding, size_t line) const {
    finding.time = rank_.lines[line].time;
    if (!finding.time) finding.time = rank_.ended;
    finding.order = rank_.lines[line].order;
  }

  std::string_view Before(size_t line) const {
    while (line > 0) {
      const std::string_view text = base::Trim(rank_.lines[--line].text);
      if (!text.empty()) return text;
    }
    return "";
  }

  // Whether the program has printed this line before, except for its numbers, and worked on;
  // `above_traceback`: also then with a traceback below it.
  bool WentOnAfter(std::string_view text, bool above_traceback) const {
    const size_t last_step = working_until_ == 0 ? 0 : working_until_ - 1;
    for (size_t i = 0; i < last_step; ++i) {
      if (above_traceback && rank_.lines[i + 1].text != kTracebackHeader) continue;
      if (IsSameButNumbers(rank_.lines[i].text, text)) return true;
    }
    return false;
  }

  bool IsBehindWarning(const Chain& chain) const {
    return IsDoubtful(Before(chain.begin)) && !IsEnd(chain.end);
  }

  // Whether the program says nothing from this line on.
  bool IsEnd(size_t line) const {
    return std::all_of(rank_.lines.begin() + static_cast<ptrdiff_t>(line), rank_.lines.end(),
                       [](const Line& rest) { return IsNothing(rest.text); });
  }

  // If all ranks write to one file, the others may work on for a while after an exception; the
  // launcher then reports that the exception ended its program.
  std::optional<Finding> ReadBeforeOthersWork() const {
    const auto last = std::find_if(chains_.rbegin(), chains_.rend(), [this](const Chain& chain) {
      return chain.begin < working_until_ && !IsHandled(Before(chain.begin));
    });
    if (last == chains_.rend()) return std::nullopt;
    const auto behind = [this, last](auto predicate) {
      return std::any_of(rank_.lines.begin() + static_cast<ptrdiff_t>(last->end), rank_.lines.end(),
                         predicate);
    };
    const bool has_ended = behind([](const Line& line) { return ReportsExit(line.text); });
    // The traceback of another rank, whose end the log does not have.
    const bool is_cut = behind([](const Line& line) { return line.text == kTracebackHeader; });
    auto found = has_ended || is_cut ? ReadChain(*last) : std::nullopt;
    if (found && !has_ended && (found->rule.empty() || found->level != Level::kDeciding)) {
      return std::nullopt;
    }
    if (found) found->confidence = std::min(found->confidence, Confidence::kMedium);
    return found;
  }

  // Asks the rules for the whole message, if its first line is all that the exception has.
  void TakeWrapped(Finding& finding, size_t line) const {
    const Rule* rule = nullptr;
    for (const std::string_view between : {" ", ""}) {
      const std::string message = WrappedMessage(rank_.lines, line, between);
      if (rule == nullptr && !message.empty()) rule = RuleForException(message);
    }
    if (rule == nullptr) return;
    finding.Take(*rule);
    finding.confidence = std::min(finding.confidence, Confidence::kMedium);
  }

  std::optional<Finding> ReadChain(const Chain& chain) const {
    const std::string_view before = Before(chain.begin);
    // A status may be all that says what ended the program.
    const Rule* const of_last = RuleFor(chain.raised.back());
    const bool is_of_status = of_last != nullptr && (of_last->name.starts_with("windows-") ||
                                                     of_last->name == "exit-crash");
    const bool is_report = IsReport(chain) && !is_of_status;
    if (is_report || IsBeforeAside(before) || IsOfDestructor(chain)) return std::nullopt;
    if (IsHandled(before) && (!IsEnd(chain.end) || WentOnAfter(before, true))) return std::nullopt;
    auto found = FindInChain(chain);
    if (!found) return std::nullopt;
    Finding finding = std::move(found->finding);
    if (finding.frame.file.empty()) finding.frame = TracedFrame(chain);
    const Raised* const deciding = found->deciding;
    if (finding.rule.empty() || found->is_by_words) TakeWrapped(finding, deciding->line);
    Place(finding, deciding->line);
    // Such an exception does not end a program; something else has ended this one.
    if (before.starts_with("Exception in thread ") && rank_.exit_code == kSignalBase + SIGTERM) {
      finding.level = std::max(finding.level, Level::kSymptom);
      finding.confidence = std::min(finding.confidence, Confidence::kMedium);
    }
    // These are the last lines up to the exception that decides: its innermost frames and its
    // message.
    const size_t begin = std::max(
        chain.begin, deciding->line > kEvidenceLines ? deciding->line - kEvidenceLines + 1 : 0);
    for (size_t i = begin; i <= deciding->line; ++i) finding.words.push_back(rank_.lines[i].text);
    return finding;
  }

  // A plug-in of Slurm ends its message with a line of its own; the reason stands in the lines
  // above it.
  std::string ReasonBefore(size_t closing) const {
    const std::string_view text = rank_.lines[closing].text;
    const std::string_view program = text.substr(0, text.find(": ") + 2);
    size_t first = closing;
    while (first > 0 && rank_.lines[first - 1].text.starts_with(program) &&
           !IsWarning(rank_.lines[first - 1].text)) {
      --first;
    }
    return std::string(base::Trim(std::string_view(rank_.lines[first].text).substr(0, 400)));
  }

  Finding TakeLine(size_t i, const Rule& rule) const {
    Finding found;
    found.Take(rule);
    found.line = base::Trim(std::string_view(rank_.lines[i].text).substr(0, 400));
    constexpr std::string_view kLaunchers = "why       : ";
    if (found.line.starts_with(kLaunchers)) found.line.erase(0, kLaunchers.size());
    if (found.line.ends_with(": Unspecified error")) found.line = ReasonBefore(i);
    if (rule.kind == "native-crash") found.frame = CrashFrame(i);
    Place(found, i);
    for (size_t near = i; near < std::min(i + 3, rank_.lines.size()); ++near) {
      found.words.push_back(rank_.lines[near].text);
    }
    return found;
  }

  // Reads the lines before `end`.
  std::optional<Finding> ReadLines(size_t end) const {
    std::optional<Finding> best;
    const size_t no_program_until = NoProgramUntil();
    for (size_t i = 0; i < end; ++i) {
      const std::string& text = rank_.lines[i].text;
      const bool is_kernels = text.find("NVRM: ") != std::string::npos;
      const bool is_passed = i < working_until_;
      if (text.empty() || IsInChain(i) || IsWarning(text) || IsWaitThatEnded(i) ||
          (is_passed && !is_kernels && !IsLastOfScheduler(i))) {
        continue;
      }
      const Rule* rule = RuleForLine(text);
      if (rule == nullptr) rule = RuleForEscaped(text);
      if (rule == nullptr) rule = RuleForCarried(i);
      if (rule == nullptr) rule = RuleForReprinted(text);
      if (rule == nullptr) rule = RuleForGivenUp(i);
      const bool may_be_file = rule == nullptr || rule->kind == "file-missing";
      if (may_be_file && i < no_program_until && IsMissingOfShell(text)) {
        rule = &RuleNamed("program-missing");
      }
      const bool is_of_dash = rule == nullptr && IsMissingOfDash(text);
      if (is_of_dash) rule = &RuleNamed("program-missing");
      if (rule == nullptr || IsOfFabricThatWentOn(i)) continue;
      const bool is_better = !best || rule->level < best->level || rule->Overrules(best->kind);
      if (!is_better) continue;
      if (IsEndForTask(text) || (IsEndOfStep(text) && IsOfSrun(i))) continue;
      best = TakeLine(i, *rule);
      if ((is_passed && !is_kernels) || (is_of_dash && i >= no_program_until)) {
        best->confidence = std::min(best->confidence, Confidence::kMedium);
      }
    }
    return best;
  }

  // Finds where the last trouble that UCX has not logged ends, and the last line behind it.
  void ReadBehindFabric() {
    for (size_t i = rank_.lines.size(); i-- > working_until_;) {
      const std::string_view text = rank_.lines[i].text;
      if (text.empty() || IsOfFabricsLog(text)) continue;
      if (IsInChain(i) || MentionsFailure(text)) {
        trouble_until_ = i + 1;
        return;
      }
      going_on_until_ = std::max(going_on_until_, i);
    }
  }

  // UCX logs as errors what it then does without: whether this is such a line, the program went on
  // behind it, and nothing there is about a failure.
  bool IsOfFabricThatWentOn(size_t line) const {
    return line >= trouble_until_ && line < going_on_until_ &&
           IsOfFabricsLog(rank_.lines[line].text);
  }

  // Returns the line up to which a missing file is a missing program, because a shell's exit status
  // below says so; 0 if there is no such status.
  size_t NoProgramUntil() const {
    if (rank_.exit_code == kNoProgram) return rank_.lines.size();
    size_t until = rank_.lines.size();
    while (until > 0 && !ReportsMissingProgram(rank_.lines[until - 1].text)) --until;
    return until;
  }

  // A scheduler's word ends a job, unless the program succeeds after it or the scheduler starts the
  // job once more.
  bool IsLastOfScheduler(size_t line) const {
    return IsOfScheduler(rank_.lines[line].text) &&
           std::none_of(rank_.lines.begin() + static_cast<ptrdiff_t>(line), rank_.lines.end(),
                        [](const Line& behind) { return ReportsSuccess(behind.text); }) &&
           !BeginsAnew(line);
  }

  // Whether the program repeats, behind this line, something that it otherwise says only before its
  // first step.
  bool BeginsAnew(size_t line) const {
    constexpr size_t kFewestLetters = 12;
    const auto begin = rank_.lines.begin();
    const auto end = begin + static_cast<ptrdiff_t>(line);
    const auto step =
        std::find_if(begin, end, [](const Line& each) { return IsProgress(each.text); });
    std::set<std::string_view> said;
    for (auto each = begin; each != step; ++each) {
      if (each->text.size() >= kFewestLetters && !IsOfLauncher(each->text)) said.insert(each->text);
    }
    for (auto each = step; each != end; ++each) said.erase(each->text);
    return std::any_of(end + 1, rank_.lines.end(),
                       [&said](const Line& each) { return said.contains(each.text); });
  }

  // The kernel may kill one process of several, and the others may go on for a while.
  std::optional<Finding> ReadPassedByKernel() const {
    for (size_t i = working_until_; i-- > 0;) {
      const Rule* const rule = IsInChain(i) ? nullptr : RuleForWitness(rank_.lines[i].text);
      if (ReportsSuccess(rank_.lines[i].text)) return std::nullopt;
      if (rule == nullptr) continue;
      Finding found = TakeLine(i, *rule);
      found.confidence = std::min(found.confidence, Confidence::kMedium);
      return found;
    }
    return std::nullopt;
  }

  // Whether srun itself ended the step in this line, because a task had failed.
  bool IsOfSrun(size_t line) const {
    return std::any_of(rank_.lines.begin(), rank_.lines.begin() + static_cast<ptrdiff_t>(line),
                       [](const Line& before) { return EndsStep(before.text); });
  }

  // Whether the line stands where a traceback names its exception, with the type left out.
  bool EndsFrames(size_t line) const {
    const std::string_view text = rank_.lines[line].text;
    if (text.empty() || text[0] == ' ') return false;
    for (size_t i = line; i-- > 0 && rank_.lines[i].text.starts_with(' ');) {
      if (!ReadFrame(rank_.lines[i].text).file.empty()) return true;
    }
    return false;
  }

  // Reads the words of an exception where nothing marks them as such: in lines that other processes
  // have broken, in flattened logs, and in the C++ log of a store whose exception is cut.
  std::optional<Finding> ReadLoose() const {
    const auto is_stores = [this](size_t line) {  // a warning of c10d counts only as a last word
      const std::string& text = rank_.lines[line].text;
      return line + kLastWords >= rank_.lines.size() && text.find("[c10d]") != std::string::npos &&
             text.find("The IPv6 network addresses of") == std::string::npos;  // IPv4 comes next
    };
    if (auto found = ReadLooseOf([this](size_t line) {
          return MentionsFailure(rank_.lines[line].text) || EndsFrames(line);
        })) {
      return found;
    }
    if (auto found = ReadLooseOf(is_stores)) {
      found->confidence = Confidence::kLow;  // it tries again until it gives up, which is not said
      return found;
    }
    if (auto found = ReadReported()) return found;
    if (auto found = ReadFlattened()) return found;
    return ReadBare();
  }

  // Whether the line says nothing, or belongs to a report about an end: to a traceback, a stack of
  // C++, or a launcher's words.
  bool IsOfReport(size_t line) const {
    const std::string_view text = base::Trim(rank_.lines[line].text);
    return text.empty() || text.starts_with(kFrameOfCpp) || IsOfLauncher(text) || IsInChain(line);
  }

  // Reads words that somebody has cut out of their exception, or that a program prints about it. A
  // signal says more than such words.
  std::optional<Finding> ReadBare() const {
    if (rank_.exit_code.value_or(0) >= kSignalBase) return std::nullopt;
    size_t begin = rank_.lines.size();
    for (size_t words = 0; begin > working_until_ && words < kLastWords; --begin) {
      const std::string_view text = base::Trim(rank_.lines[begin - 1].text);
      if (IsShellsWordOfASignal(text)) return std::nullopt;
      words += text.empty() || text.starts_with(kFrameOfCpp) ? 0 : 1;
    }
    const auto is_asked = [this, begin](size_t line) {
      const std::string_view text = rank_.lines[line].text;
      if (IsOfFabricThatWentOn(line)) return false;
      return line >= begin && !IsWarning(text) && !IsOfLauncher(text) && !IsProgress(text) &&
             !GoesOnAnyway(text);
    };
    if (auto found = ReadLooseOf(is_asked)) return found;
    for (size_t i = begin; i < rank_.lines.size(); ++i) {
      if (IsInChain(i) || !is_asked(i) || !MentionsTrouble(rank_.lines[i].text)) continue;
      const Rule* const rule = RuleForBare(base::Trim(WithoutQuotedErrors(rank_.lines[i].text)));
      if (rule != nullptr && rule->level <= Level::kSymptom) return TakeLoose(i, *rule);
    }
    return std::nullopt;
  }

  // What a launcher's report quotes is not a cause of its own, but it is used if nothing else was
  // said.
  std::optional<Finding> ReadReported() const {
    for (size_t i = working_until_; i < rank_.lines.size(); ++i) {
      const std::string_view text = rank_.lines[i].text;
      Raised raised;
      raised.text = ReportedIn(text);
      if (raised.text.empty() || IsInChain(i) || IsWarning(text) || IsAside(text) ||
          IsAboutAnother(raised))
        continue;
      const Rule* const rule = RuleForException(raised.text);
      if (rule != nullptr && rule->level > Level::kSymptom) continue;
      Finding finding = rule != nullptr ? TakeLine(i, *rule) : OwnException();
      finding.confidence = std::min(finding.confidence, Confidence::kMedium);
      finding.line = base::Trim(text.substr(0, 400));
      Place(finding, i);
      return finding;
    }
    return std::nullopt;
  }

  // Reads a traceback whose lines somebody has put into one. Its exception is one that no rule
  // knows.
  std::optional<Finding> ReadFlattened() const {
    for (size_t i = working_until_; i < rank_.lines.size(); ++i) {
      const std::string_view text = rank_.lines[i].text;
      const size_t header = text.find(kTracebackHeader);
      if (header == std::string_view::npos || IsInChain(i) || IsWarning(text)) continue;
      const std::string_view traceback = text.substr(header + kTracebackHeader.size());
      const size_t error =
          std::max(traceback.rfind("Error: ") + 1, traceback.rfind("Exception: ") + 1);
      if (error == 0) continue;
      size_t begin = error - 1;
      const auto is_of_type = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
      };
      while (begin > 0 && is_of_type(traceback[begin - 1])) --begin;
      if (begin > 0 && traceback[begin - 1] == '\\') ++begin;  // the n of "\n"
      Chain chain;
      chain.raised.emplace_back().text = base::Trim(traceback.substr(begin, 400));
      if (IsReport(chain) || IsAboutAnother(chain.raised.front())) continue;
      Finding finding = OwnException();
      finding.confidence = Confidence::kMedium;
      finding.line = chain.raised.front().text;
      Place(finding, i);
      return finding;
    }
    return std::nullopt;
  }

  template <typename Predicate>
  std::optional<Finding> ReadLooseOf(Predicate is_asked) const {
    size_t first = rank_.lines.size();
    for (size_t words = 0; first > working_until_ && words < kLooseLines; --first) {
      words += IsOfReport(first - 1) ? 0 : 1;
    }
    for (size_t i = first; i < rank_.lines.size(); ++i) {
      if (IsInChain(i) || !is_asked(i) || IsWaitThatEnded(i)) continue;
      const std::string_view text = rank_.lines[i].text;
      if (IsHandled(text) && WentOnAfter(text, false)) continue;
      if (IsOfFabricThatWentOn(i)) continue;
      const std::string whole = WithLinesBelow(text, i);
      // Python shows an object of an exception in this way.
      const std::string shown = GoesOnAnyway(text) ? "" : ShownException(whole);
      const Rule* rule = shown.empty() ? nullptr : RuleForException(shown);
      if (rule == nullptr || rule->level > Level::kSymptom)
        rule = RuleForWords(WithoutQuotedErrors(whole));
      if (rule != nullptr && rule->level <= Level::kSymptom) return TakeLoose(i, *rule);
    }
    return std::nullopt;
  }

  Finding TakeLoose(size_t line, const Rule& rule) const {
    const std::string& text = rank_.lines[line].text;
    Finding finding;
    finding.Take(rule);
    if (rule.level == Level::kDeciding) finding.confidence = Confidence::kMedium;
    finding.line = base::Trim(std::string_view(text).substr(0, 400));
    finding.words.push_back(text);
    Place(finding, line);
    return finding;
  }

  // Finds a rule for a line of a container's log that a plug-in of Slurm prints again after a
  // failure.
  static const Rule* RuleForReprinted(std::string_view text) {
    constexpr std::string_view kPlugIn = "pyxis:     ";
    const size_t at = text.find(kPlugIn);
    if (at == std::string_view::npos) return nullptr;
    const Rule* const rule = RuleForWords(text.substr(at + kPlugIn.size()));
    return rule != nullptr && rule->level == Level::kDeciding ? rule : nullptr;
  }

  // c10d warns of each address that it tries, with the errno, and then says without one that it has
  // given up. Finds a rule for the warnings above that line.
  const Rule* RuleForGivenUp(size_t line) const {
    constexpr size_t kFarthest = 8;
    constexpr std::string_view kSocket = "] [c10d] The ";
    constexpr std::string_view kGivenUp = " local network address.";
    if (!rank_.lines[line].text.ends_with(kGivenUp)) return nullptr;
    for (size_t i = line; i-- > 0 && line - i <= kFarthest;) {
      const std::string_view text = rank_.lines[i].text;
      const size_t at = text.find(kSocket);
      if (at == std::string_view::npos) continue;
      const Rule* const rule = RuleForWords(text.substr(at + kSocket.size()));
      if (rule != nullptr && rule->level == Level::kDeciding) return rule;
    }
    return nullptr;
  }

  // Includes what NCCL says in the lines below.
  const Rule* RuleForCarried(size_t line) const {
    const std::string_view carried = CarriedException(rank_.lines[line].text);
    return carried.empty() ? nullptr : RuleForException(WithLinesBelow(carried, line));
  }

  std::string WithLinesBelow(std::string_view first, size_t line) const {
    std::string text(first);
    for (size_t i = line + 1; i < std::min(line + 4, rank_.lines.size()); ++i) {
      if (!GoesOn(rank_.lines[i - 1].text, rank_.lines[i].text)) break;
      text.append("\n").append(rank_.lines[i].text);
    }
    return text;
  }

  // torch.compile runs the program's code itself: the program's own lines stand below its
  // exception, which may be the next one after `chain` in chains_.
  Frame TracedFrame(const Chain& chain) const {
    const auto next = static_cast<size_t>(&chain - chains_.data()) + 1;
    const size_t end = next + 1 < chains_.size() ? chains_[next + 1].begin : rank_.lines.size();
    size_t line = chain.end;
    while (line < end && rank_.lines[line].text != "from user code:") ++line;
    if (line >= end) return {};
    const std::string& above = LastChainFrom(line)->raised.back().text;
    if (!above.starts_with("torch._dynamo.")) return {};
    Frame innermost;
    for (++line; line < rank_.lines.size() && rank_.lines[line].text.starts_with(' '); ++line) {
      const Frame frame = ReadFrame(rank_.lines[line].text);
      if (!frame.file.empty() && frame.IsUsers()) innermost = frame;
    }
    return innermost;
  }

  // faulthandler prints the innermost frame first.
  Frame CrashFrame(size_t line) const {
    for (size_t i = line; i < std::min(line + 40, rank_.lines.size()); ++i) {
      const Frame frame = ReadFrame(rank_.lines[i].text);
      if (!frame.file.empty() && frame.IsUsers()) return frame;
    }
    return {};
  }

  const Rank& rank_;
  const std::vector<Chain> chains_;
  const std::vector<bool> ended_waits_;
  size_t working_until_ = 0;  // the index after the last line that shows work
  size_t trouble_until_ = 0;  // the same of a failure (ReadBehindFabric)
  size_t going_on_until_ = 0;
};

// torch/distributed/rendezvous.py: with "env://", rank 0 alone starts the store's server.
bool TookItselfForRankZero(const Rank& rank, const Finding& found) {
  return rank.rank.value_or(0) > 0 && found.kind == "port-in-use" &&
         std::any_of(rank.lines.begin(), rank.lines.end(), [](const Line& line) {
           return line.text.find(", in _env_rendezvous_handler") != std::string::npos;
         });
}

}  // namespace

std::vector<bool> EndedWaitsOf(const std::vector<Line>& lines) {
  std::vector<std::string_view> texts;
  texts.reserve(lines.size());
  for (const Line& line : lines) texts.push_back(line.text);
  return FindEndedWaits(texts);
}

void Finding::Take(const Rule& taken) {
  rule = taken.name;
  kind = taken.kind;
  title = taken.title;
  advice = taken.advice;
  advice_text = taken.advice_text;
  level = taken.level;
  const bool is_weak = taken.level == Level::kSymptom || taken.level == Level::kUndecided;
  if (is_weak || taken.kind == kUnknown) confidence = Confidence::kLow;
}

std::optional<std::pair<size_t, size_t>> FirstError(const std::vector<Line>& lines) {
  Rank rank;
  rank.lines = lines;
  return RankReader(rank).FirstError();
}

std::optional<Finding> FindPassedByNccl(const Rank& rank) {
  return RankReader(rank).ReadPassedByNccl();
}

bool HasFailed(const Rank& rank) {
  if (rank.exit_code) return *rank.exit_code != 0;
  return true;
}

std::optional<Finding> FindInRank(const Rank& rank) {
  if (!HasFailed(rank)) return std::nullopt;
  if (auto status = FindInStatus(rank.reason, rank.message)) {
    status->time = rank.ended;
    return status;
  }
  std::optional<Finding> found = RankReader(rank).Read();
  if (!found && !ExitOf(rank)) return std::nullopt;
  if (found && TookItselfForRankZero(rank, *found)) {
    found->advice = Advice::kFixFirst;
    found->advice_text =
        "It took itself for rank 0, which alone opens MASTER_PORT: let the program read RANK. "
        "PyTorch Lightning does so with plugins=[KubeflowEnvironment()], or under torchrun.";
  }
  if (!found) {
    found = FindInExit(rank);
    if (rank.was_ended_by_us) found->level = Level::kPeerLost;
  }
  AskWitnesses(rank, *found);
  return found;
}

}  // namespace answers
