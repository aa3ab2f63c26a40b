#include "answers/log/ray_words.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "answers/finding.h"
#include "answers/log/actor_rank.h"
#include "answers/rank_number.h"
#include "answers/symptoms.h"
#include "answers/traceback.h"
#include "base/strings.h"

namespace answers {
namespace {

using Lines = std::vector<std::string_view>;

constexpr std::string_view kTransition = "[State Transition] ";

// An exception, and the ranks that have it.
struct WorkersError {
  std::set<int> ranks;
  size_t line = 0;
  bool is_cause = false;  // and not what another rank's end did to these
};

// Reads the ranks in "[Rank 3 Error Snippet]:", "[Rank 0, 1]:" and "[Rank 3]"; empty for another
// line.
std::set<int> RanksOfHeading(std::string_view line, bool is_below_error) {
  constexpr std::string_view kBegin = "[Rank ", kSnippet = " Error Snippet";
  if (!line.starts_with(kBegin)) return {};
  line.remove_prefix(kBegin.size());
  if (line.ends_with(':')) line.remove_suffix(1);
  if (!line.ends_with(']')) return {};
  line.remove_suffix(1);
  if (line.ends_with(kSnippet)) {
    line.remove_suffix(kSnippet.size());
  } else if (!is_below_error) {
    return {};
  }
  std::set<int> ranks;
  for (const std::string& part : base::Split(line, ',')) {
    const auto rank = RankOfDigits(base::Trim(part));
    if (!rank) return {};
    ranks.insert(*rank);
  }
  return ranks;
}

// Whether headings with ranks follow.
bool IsErrorOfWorkers(std::string_view line) {
  return line.ends_with("Training failed due to worker errors:") ||
         line.find("ing training worker group after encountering failure") != line.npos;
}

// Whether the exception below this line, up to the next report, is a cause.
bool IsCause(const Lines& lines, size_t begin) {
  constexpr size_t kMostLines = 60;
  Rank rank;
  for (size_t i = begin; i < lines.size() && i < begin + kMostLines; ++i) {
    const bool is_next =
        i > begin && (!RanksOfHeading(lines[i], true).empty() || IsErrorOfWorkers(lines[i]) ||
                      lines[i].find(kTransition) != lines[i].npos);
    if (is_next) break;
    rank.lines.push_back({std::nullopt, std::string(lines[i]), i});
  }
  const auto finding = FindInRank(rank);
  return finding && finding->level == Level::kDeciding && finding->kind != kUnknown;
}

}  // namespace

bool IsRestartOfRay(std::string_view line) {
  return line.find("[State Transition] RESTARTING -> ") != line.npos;
}

std::optional<LauncherRow> ReadRay(const Lines& lines) {
  ActorRanks actors;
  for (const std::string_view line : lines) actors.ReadRow(line);
  std::vector<WorkersError> reports;
  std::map<int, size_t> dead;  // the line about it
  bool is_below_error = false;
  for (size_t i = 0; i < lines.size(); ++i) {
    is_below_error = is_below_error || IsErrorOfWorkers(lines[i]);
    if (IsRestartOfRay(lines[i])) {
      reports.clear();
      dead.clear();
      is_below_error = false;
    }
    std::set<int> ranks = RanksOfHeading(lines[i], is_below_error);
    if (const auto rank = actors.RankOfTaskError(lines[i])) ranks.insert(*rank);
    if (const auto rank = actors.RankOfDead(lines, i)) dead.try_emplace(*rank, i);
    // The driver and its controller print the same.
    const bool is_new = !ranks.empty() && std::none_of(reports.begin(), reports.end(),
                                                       [&ranks](const WorkersError& of) {
                                                         return of.ranks == ranks;
                                                       });
    if (is_new) reports.push_back({std::move(ranks), i, IsCause(lines, i)});
  }
  const auto causes = std::count_if(reports.begin(), reports.end(),
                                    [](const WorkersError& report) { return report.is_cause; });
  if (causes == 1 || (causes == 0 && dead.size() != 1)) {
    std::erase_if(reports,
                  [causes](const WorkersError& of) { return causes == 1 && !of.is_cause; });
  } else if (causes == 0) {
    reports = {{{dead.begin()->first}, dead.begin()->second}};
  }
  if (reports.size() != 1 || reports[0].ranks.size() != 1) return std::nullopt;
  LauncherRow row;
  row.rank = *reports[0].ranks.begin();
  row.words = lines[reports[0].line];
  row.has_exception = true;
  return row;
}

bool HasFinishedByRay(const Lines& lines, const Lines& sources) {
  constexpr std::string_view kFinished = " -> FINISHED.";
  std::map<std::string_view, bool> have_finished;
  size_t last = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].starts_with(kTransition)) continue;
    have_finished[sources[i]] = lines[i].ends_with(kFinished);
    last = i;
  }
  const bool have_all = std::all_of(have_finished.begin(), have_finished.end(),
                                    [](const auto& controller) { return controller.second; });
  if (have_finished.empty() || !have_all) return false;
  return std::none_of(lines.begin() + static_cast<ptrdiff_t>(last), lines.end(),
                      [](std::string_view line) {
                        return line.find(kTracebackHeader) != line.npos || MentionsFailure(line);
                      });
}

}  // namespace answers
