#include "arena/history/reports.h"

#include <fmt/format.h>

#include <charconv>

#include "arena/folder/run_note.h"
#include "arena/history/run_life.h"
#include "arena/history/trials.h"

namespace arena {

base::Result<base::Duration> ReadSince(const std::string& text) {
  int64_t count = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string_view unit(read.ptr, static_cast<size_t>(text.data() + text.size() - read.ptr));
  constexpr int64_t kMostDays = 36'500;
  if (read.ec == std::errc() && (unit == "d" || unit == "w") && count > 0 && count <= kMostDays) {
    return std::chrono::hours(24 * count * (unit == "w" ? 7 : 1));
  }
  const auto duration = base::ParseGoDuration(text);
  if (duration && duration->count() > 0) {
    return std::chrono::duration_cast<base::Duration>(*duration);
  }
  return base::Fail(base::Code::kInvalidArgument,
                    fmt::format("--since {}: give a time like 7d, 2w or 12h", text));
}

RunReport ReportOn(cluster::Client& client, const Context& context, RunRecord run) {
  RunReport report;
  report.life = ReadLife(client, context, run);
  report.ledger = LedgerOf(report.life);
  report.is_sweep = HasTrials(run, RunFolderOf(run.job.job, context.environment));
  report.run = std::move(run);
  return report;
}

base::Result<std::vector<RunReport>> ReportsSince(cluster::Client& client, const Context& context,
                                                  const std::string& namespace_name,
                                                  base::Duration since) {
  TRY_ASSIGN(KnownRuns known, ListRuns(client, context, namespace_name, 0));
  const base::Time from = context.clock.Now() - since;
  std::vector<RunReport> reports;
  for (RunRecord& run : known.runs) {
    const auto end =
        run.job.summary.completion_time ? run.job.summary.completion_time : run.deleted;
    if (end && *end < from) continue;
    const base::Status read = ReadWhole(client, context, run);
    if (!read && read.error().code == base::Code::kNotFound) continue;  // deleted meanwhile
    if (!read) return base::Fail(read.error());
    if (run.job.hidden_pods) return base::Fail(*run.job.hidden_pods);
    reports.push_back(ReportOn(client, context, std::move(run)));
  }
  return reports;
}

}  // namespace arena
