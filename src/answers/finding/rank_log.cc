#include "answers/finding/rank_log.h"

#include <algorithm>
#include <set>

#include "answers/program_words.h"
#include "answers/symptoms.h"
#include "base/launcher_report.h"
#include "base/strings.h"

namespace answers {
namespace {

bool IsNothing(std::string_view text) { return SaysNothing(text) || IsOfLauncher(text); }

}  // namespace

RankLog::RankLog(const Rank& rank)
    : rank_(rank), chains_(FindChains(rank.lines)), overtaken_(OvertakenIn(rank.lines)) {
  std::set<std::string_view> counters;
  std::vector<size_t> work;  // behind the last exception
  for (size_t i = 0; i < rank_.lines.size(); ++i) {
    const std::string_view text = rank_.lines[i].text;
    const bool is_work = IsProgress(text) || (rank_.rank && BeginsWork(text));
    if (text.empty() || !is_work || IsInChain(i)) continue;
    // A program that ends draws its bar once more, which is no new work.
    const std::string_view counter = CounterOfBar(text);
    if (IsLoneLastLine(i)) continue;
    if (!counter.empty() && !counters.insert(counter).second) continue;
    if (!chains_.empty() && i >= chains_.back().end) {
      work.push_back(i);
    } else {
      working_until_ = i + 1;
    }
  }
  if (!work.empty() && !IsOfOthers(work)) working_until_ = work.back() + 1;
  ReadBehindFabric();
}

bool RankLog::IsInChain(size_t line) const {
  const Chain* const chain = LastChainFrom(line);
  return chain != nullptr && line < chain->end;
}

const Chain* RankLog::LastChainFrom(size_t line) const {
  const auto next =
      std::upper_bound(chains_.begin(), chains_.end(), line,
                       [](size_t at, const Chain& chain) { return at < chain.begin; });
  return next == chains_.begin() ? nullptr : &*std::prev(next);
}

// Whether this line is all that follows a whole traceback: programs that buffer their output, or
// draw a bar once more, print this much when they end.
bool RankLog::IsLoneLastLine(size_t line) const {
  const Chain* const before = LastChainFrom(line);
  const bool may_be = before != nullptr && !ReportsSuccess(rank_.lines[line].text);
  if (!may_be || !IsEnd(line + 1)) return false;
  if (rank_.lines[before->begin].text.find(kTracebackHeader) == std::string::npos) return false;
  // A program that failed has mostly ended by the exception that it printed last.
  const bool has_failed = rank_.exit_code.value_or(0) != 0;
  if (!has_failed && WasCaught(*before) && CounterOfBar(rank_.lines[line].text).empty()) {
    return false;
  }
  for (size_t i = before->end; i < line; ++i) {
    if (!IsNothing(rank_.lines[i].text)) return false;
  }
  return true;
}

// Whether these few lines may come from other processes, which torchrun says that it started: the
// last exception has left its program's outermost frame, no prefix tells whose the lines are, and
// torchrun says below them that a process failed.
bool RankLog::IsOfOthers(const std::vector<size_t>& work) const {
  constexpr size_t kMost = 12;
  static constexpr std::string_view kEnd = "exitcode";
  const std::vector<Frame>& frames = chains_.back().raised.back().frames;
  const bool has_ended = !frames.empty() && frames.front().function == "<module>" &&
                         rank_.lines[chains_.back().begin].text == kTracebackHeader;
  const auto behind = rank_.lines.begin() + static_cast<ptrdiff_t>(chains_.back().end);
  return !rank_.rank && has_ended && work.size() <= kMost &&
         std::any_of(behind, rank_.lines.end(),
                     [](const Line& line) { return line.text.find(kEnd) != line.text.npos; }) &&
         !IsHandled(Before(chains_.back().begin)) && !ReportsSuccess(rank_.lines.back().text) &&
         std::any_of(rank_.lines.begin(), rank_.lines.end(),
                     [](const Line& line) { return StartsSeveral(line.text); });
}

std::string_view RankLog::Before(size_t line) const {
  while (line > 0) {
    const std::string_view text = base::Trim(rank_.lines[--line].text);
    if (!text.empty()) return text;
  }
  return "";
}

bool RankLog::IsEnd(size_t line) const {
  return std::all_of(rank_.lines.begin() + static_cast<ptrdiff_t>(line), rank_.lines.end(),
                     [](const Line& rest) { return IsNothing(rest.text); });
}

bool RankLog::WentOnAfter(std::string_view text, bool above_traceback) const {
  const size_t last_step = working_until_ == 0 ? 0 : working_until_ - 1;
  for (size_t i = 0; i < last_step; ++i) {
    if (above_traceback && rank_.lines[i + 1].text != kTracebackHeader) continue;
    if (IsSameButNumbers(rank_.lines[i].text, text)) return true;
  }
  return false;
}

bool RankLog::IsOvertaken(size_t line) const { return !overtaken_.empty() && overtaken_[line]; }

// Finds where the last trouble that UCX has not logged ends, and the last line behind it.
void RankLog::ReadBehindFabric() {
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

bool RankLog::IsOfFabricThatWentOn(size_t line) const {
  return line >= trouble_until_ && line < going_on_until_ && IsOfFabricsLog(rank_.lines[line].text);
}

std::string RankLog::WithLinesBelow(std::string_view first, size_t line) const {
  std::string text(first);
  for (size_t i = line + 1; i < std::min(line + 4, rank_.lines.size()); ++i) {
    if (!GoesOn(rank_.lines[i - 1].text, rank_.lines[i].text)) break;
    text.append("\n").append(rank_.lines[i].text);
  }
  return text;
}

void RankLog::Place(Finding& finding, size_t line) const {
  finding.time = rank_.lines[line].time;
  if (!finding.time) finding.time = rank_.ended;
  finding.order = rank_.lines[line].order;
}

// A plug-in of Slurm ends its message with a line of its own; the reason stands in the lines
// above it.
std::string RankLog::ReasonBefore(size_t closing) const {
  const std::string_view text = rank_.lines[closing].text;
  const std::string_view program = text.substr(0, text.find(": ") + 2);
  size_t first = closing;
  while (first > 0 && rank_.lines[first - 1].text.starts_with(program) &&
         !IsWarning(rank_.lines[first - 1].text)) {
    --first;
  }
  return std::string(base::Trim(std::string_view(rank_.lines[first].text).substr(0, 400)));
}

// faulthandler prints the innermost frame first.
Frame RankLog::CrashFrame(size_t line) const {
  for (size_t i = line; i < std::min(line + 40, rank_.lines.size()); ++i) {
    const Frame frame = ReadFrame(rank_.lines[i].text);
    if (!frame.file.empty() && frame.IsUsers()) return frame;
  }
  return {};
}

Finding RankLog::TakeLine(size_t i, const Rule& rule) const {
  Finding found;
  found.Take(rule);
  found.line = base::Trim(std::string_view(rank_.lines[i].text).substr(0, 400));
  if (found.line.starts_with(base::kReportWhy)) found.line.erase(0, base::kReportWhy.size());
  if (found.line.ends_with(": Unspecified error")) found.line = ReasonBefore(i);
  if (rule.kind == "native-crash") found.frame = CrashFrame(i);
  Place(found, i);
  for (size_t near = i; near < std::min(i + 3, rank_.lines.size()); ++near) {
    found.words.push_back(rank_.lines[near].text);
  }
  return found;
}

Finding RankLog::TakeLoose(size_t line, const Rule& rule) const {
  const std::string& text = rank_.lines[line].text;
  Finding finding;
  finding.Take(rule);
  if (rule.level == Level::kDeciding) finding.confidence = Confidence::kMedium;
  finding.line = base::Trim(std::string_view(text).substr(0, 400));
  finding.words.push_back(text);
  Place(finding, line);
  return finding;
}

}  // namespace answers
