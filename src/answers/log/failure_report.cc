#include "answers/log/failure_report.h"

#include <algorithm>
#include <array>

#include "base/strings.h"
#include "text/lenient_json.h"

namespace answers {
namespace {

constexpr size_t kLongestReported = 4096;

std::optional<int> ReportedNumber(const text::Json& object, std::string_view key) {
  constexpr int64_t kMost = 10'000'000;
  const auto number = text::GetInt(object, {key});
  return number && *number > -1000 && *number < kMost ? std::optional(static_cast<int>(*number))
                                                      : std::nullopt;
}

std::optional<LauncherRow> ReadReported(const text::Json& failure) {
  constexpr int kOfSignals = 128;
  LauncherRow row;
  row.rank = ReportedNumber(failure, "rank");
  if (row.rank.value_or(-1) < 0) return std::nullopt;
  row.local_rank = ReportedNumber(failure, "local_rank");
  row.pid = ReportedNumber(failure, "pid");
  row.exit_code = ReportedNumber(failure, "exit_code");
  if (row.exit_code.value_or(0) < 0) row.exit_code = kOfSignals - *row.exit_code;
  row.host = text::GetString(failure, {"host"});
  return row;
}

// Whether only the launcher knows such a cause, and no log of a rank tells it.
bool IsLaunchersOwn(std::string_view kind) {
  static constexpr auto kKinds = std::to_array<std::string_view>(
      {"out-of-memory", "stalled", "nan", "uninterruptible-sleep", "ended-early"});
  return std::find(kKinds.begin(), kKinds.end(), kind) != kKinds.end();
}

std::vector<Line> LastLinesOf(const text::Json& cause) {
  std::vector<Line> lines;
  const auto add = [&lines](std::string_view line) {
    lines.push_back({std::nullopt, std::string(line.substr(0, kLongestReported)), lines.size()});
  };
  const std::string_view traceback = text::GetString(cause, {"traceback"});
  for (const std::string& line : base::Split(base::Trim(traceback), '\n')) {
    if (!traceback.empty()) add(line);
  }
  if (!lines.empty()) return lines;
  for (const text::Json& line : text::Items(cause, {"last_stderr_lines"})) {
    if (line.is_string()) add(line.as_string());
  }
  return lines;
}

}  // namespace

bool IsFailureReport(std::string_view path) {
  return path.substr(path.rfind('/') + 1) == "failure.json";
}

std::optional<FailureReport> ReadFailureReport(std::string_view text) {
  const auto json = text::ParseJsonLeniently(text);
  const text::Json* const cause = json ? text::Find(*json, {"root_cause"}) : nullptr;
  auto root = cause == nullptr ? std::nullopt : ReadReported(*cause);
  if (!root || text::FindArray(*json, {"failures"}) == nullptr) return std::nullopt;
  FailureReport report;
  report.rank = *root->rank;
  report.attempt = std::clamp(ReportedNumber(*json, "restarts_used").value_or(0), 0, 10'000);
  root->ended = Ended::kFirst;
  const std::string_view message = text::GetString(*cause, {"message"});
  root->words = message;
  root->crash = text::GetString(*cause, {"crash"});
  if (IsLaunchersOwn(text::GetString(*cause, {"class"}))) report.why = message;
  report.last_lines = LastLinesOf(*cause);
  for (const text::Json& failure : text::Items(*json, {"failures"})) {
    auto row = ReadReported(failure);
    if (!row || row->rank == report.rank) continue;
    row->ended = Ended::kLater;
    if (text::GetBool(failure, {"stopped_by_launcher"}).value_or(false)) {
      report.ended_ranks.push_back(*row->rank);
    }
    report.rows.push_back(std::move(*row));
  }
  report.rows.push_back(std::move(*root));
  return report;
}

}  // namespace answers
