#include "arena/logs/launcher_lines.h"

#include <algorithm>
#include <string_view>

#include "answers/finding.h"
#include "answers/rule.h"
#include "base/launcher_report.h"
#include "base/strings.h"

namespace arena {

bool Decides(const answers::Rank& launcher) {
  return std::any_of(launcher.lines.begin(), launcher.lines.end(), [](const answers::Line& line) {
    const answers::Rule* const rule = answers::RuleForLine(line.text);
    return rule != nullptr &&
           (rule->kind == "ended-early" || rule->kind == "hang" || rule->kind == "nan");
  });
}

bool AreMarked(const answers::Evidence& log) {
  const auto speaks = [](const answers::Rank& of) { return of.rank && !of.lines.empty(); };
  const auto first = std::find_if(
      log.ranks.begin(), log.ranks.end(),
      [&log](const answers::Rank& of) { return of.rank && of.rank == log.first_rank; });
  if (log.first_rank) return first == log.ranks.end() || speaks(*first);
  return std::any_of(log.ranks.begin(), log.ranks.end(), speaks);
}

void AddReport(const answers::Evidence& log, answers::Rank& rank) {
  for (const answers::Rank& launcher : log.ranks) {
    const auto heading =
        std::adjacent_find(launcher.lines.begin(), launcher.lines.end(),
                           [](const answers::Line& line, const answers::Line& below) {
                             return line.text.find(base::kReportHeading) != std::string::npos &&
                                    base::Trim(below.text).starts_with(base::kReportWhy);
                           });
    if (launcher.rank || heading == launcher.lines.end()) continue;
    const std::string_view said = base::Trim((heading + 1)->text).substr(base::kReportWhy.size());
    const bool is_raised =
        std::any_of(rank.lines.begin(), rank.lines.end(),
                    [said](const answers::Line& line) { return line.text == said; });
    const auto found = is_raised ? answers::FindInRank(rank) : std::nullopt;
    if (found && found->kind == answers::kUnknown) {
      rank.lines.insert(rank.lines.end(), heading, heading + 2);
      return;
    }
  }
}

}  // namespace arena
