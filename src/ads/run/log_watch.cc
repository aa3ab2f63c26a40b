#include "ads/run/log_watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "ads/oci/service_error.h"
#include "base/log.h"
#include "base/strings.h"
#include "cli/command.h"
#include "cli/interrupt_notice.h"

namespace ads {
namespace {

constexpr std::chrono::seconds kLookBack{180};
constexpr int kMaxFailedReads = 20;
constexpr std::string_view kRunService = "Data Science";
constexpr std::string_view kLogService = "Logging";
// A service is not polled more often than this, whatever --interval says.
constexpr std::chrono::milliseconds kShortestInterval{200};

// 2026-01-01 00:00:01
std::string LogStamp(base::Time time) {
  std::string stamp = base::FormatRfc3339(time).substr(0, 19);
  stamp[10] = ' ';
  return stamp;
}

std::string VariableOf(const oci::JobRun& run, std::string_view name) {
  return std::string(text::GetString(run.environment, {name}));
}

// While a run is ACCEPTED, its details say what the service does: provisioning takes minutes.
std::string StatusOf(const oci::JobRun& run) {
  return fmt::format("Job Run {}{}{}", run.state, run.details.empty() ? "" : ", ", run.details);
}

bool HasLog(const oci::JobRun& run) { return !run.log_id.empty() || !run.log_group_id.empty(); }

}  // namespace

std::string RoleOf(const oci::JobRun& run) {
  const std::string mode = VariableOf(run, "OCI__MODE");
  if (mode == "MAIN") return "main";
  const auto rank = base::ParseInt(VariableOf(run, "RANK"));
  if (mode == "WORKER" && rank) return fmt::format("worker_{}", *rank - 1);
  return run.name;
}

int ExitCodeOf(const oci::JobRun& run) {
  if (run.state == "SUCCEEDED") return 0;
  constexpr std::string_view kWords = "exit code ";
  const std::string details = base::ToLower(run.details);
  const size_t at = details.find(kWords);
  if (at == std::string::npos) return 1;
  const size_t begin = at + kWords.size();
  size_t end = begin;
  while (end < details.size() && base::IsDigit(details[end])) ++end;
  const auto code = base::ParseInt(details.substr(begin, end - begin));
  return code && *code > 0 && *code < 256 ? static_cast<int>(*code) : 1;
}

RunWatch::RunWatch(RunSource& source, std::vector<oci::JobRun> runs, Options options,
                   base::Clock& clock, cli::Output& out, cli::Output& err)
    : source_(source), options_(std::move(options)), clock_(clock), out_(out), err_(err) {
  const bool is_prefixed = runs.size() > 1;
  for (oci::JobRun& run : runs) {
    Watched watched;
    if (is_prefixed) watched.prefix = fmt::format("[{}] ", RoleOf(run));
    watched.run = std::move(run);
    watched_.push_back(std::move(watched));
  }
}

std::string RunWatch::StatusLine(const Watched& watched) {
  const oci::JobRun& run = watched.run;
  const bool is_over = oci::IsTerminal(run.state);
  const base::Time when = is_over && run.finished ? *run.finished : clock_.Now();
  return fmt::format("{}{} - {}\n", watched.prefix, LogStamp(when), StatusOf(run));
}

bool RunWatch::HasDrained(const Watched& watched) {
  if (!oci::IsTerminal(watched.run.state)) return false;
  if (!HasLog(watched.run)) return true;
  return clock_.Now() >= watched.run.finished.value_or(base::Time()) + options_.wait;
}

base::Status RunWatch::Bear(Silence& silence, const base::Error& error, std::string_view what) {
  if (!oci::IsPassing(error)) return base::Fail(error);
  const auto now = clock_.Steady();
  if (!silence) {
    silence = now;
    return err_.Write(fmt::format("{}: {}; retrying for {} minutes; the runs continue\n", what,
                                  error.message, options_.patience.count() / 60));
  }
  if (now - *silence < options_.patience) return {};
  return base::Fail(
      error.Wrap(fmt::format("{}: nothing for {} s", what, options_.patience.count())));
}

void RunWatch::End(Silence& silence, std::string_view what) {
  if (silence) (void)err_.Write(fmt::format("{}: available again\n", what));
  silence.reset();
}

base::Status RunWatch::ReadLog(Watched& watched, std::vector<Line>& lines) {
  if (watched.run.log_id.empty()) return {};
  const base::Time now = clock_.Now();
  const base::Time begun = watched.run.accepted.value_or(now - oci::kLongestLogWindow);
  const base::Time from = watched.asked ? *watched.asked - kLookBack : begun;
  auto found = source_.Read(watched.run, from, now + std::chrono::seconds(1));
  if (!found && oci::IsPassing(found.error())) {
    const bool is_awaited = watched.was_alive && options_.wait.count() > 0;
    if (watched.is_done && !is_awaited) {
      is_log_lost_ = true;
      return err_.Write(fmt::format("{}: {}; lines of the log are missing\n", kLogService,
                                    found.error().message));
    }
    watched.is_done = false;
    return Bear(log_silence_, found.error(), kLogService);
  }
  End(log_silence_, kLogService);
  if (!found) {
    if (++failed_reads_ > kMaxFailedReads) return base::Fail(std::move(found.error()));
    base::LogDebug("the log of {}: {}", watched.run.id, found.error().message);
    return {};
  }
  failed_reads_ = 0;
  watched.asked = now;
  for (const oci::LogLine& line : *found) {
    const std::string& id = line.id.empty() ? line.message : line.id;
    if (!watched.seen.insert(id).second) continue;
    lines.push_back(
        {line.time, fmt::format("{}{} - {}\n", watched.prefix, LogStamp(line.time), line.message)});
  }
  return {};
}

// Looks at the run, then at its log, so that everything printed before its end is known to be
// there.
base::Status RunWatch::Step(Watched& watched, std::vector<Line>& lines) {
  auto run = source_.Look(watched.run.id);
  if (!run) return Bear(runs_silence_, run.error(), kRunService);
  End(runs_silence_, kRunService);
  watched.run = std::move(*run);
  const std::string status = StatusOf(watched.run);
  if (!oci::IsTerminal(watched.run.state) && status != watched.shown_status) {
    TRY(out_.Write(StatusLine(watched)));
    watched.shown_status = status;
  }
  watched.was_alive |= !oci::IsTerminal(watched.run.state);
  watched.is_done = HasDrained(watched);
  return ReadLog(watched, lines);
}

base::Result<int> RunWatch::Follow() {
  const bool has_log = std::any_of(watched_.begin(), watched_.end(),
                                   [](const Watched& one) { return HasLog(one.run); });
  if (!has_log) {
    TRY(out_.Write("Logging is not configured for the job. Watch() will only show job status.\n"));
  }
  bool is_over = false;
  while (true) {
    std::vector<Line> lines;
    std::vector<Watched*> ended;
    for (Watched& watched : watched_) {
      if (watched.is_done) continue;
      TRY(Step(watched, lines));
      if (watched.is_done) ended.push_back(&watched);
      if (runs_silence_) break;
    }
    std::stable_sort(lines.begin(), lines.end(),
                     [](const Line& a, const Line& b) { return a.time < b.time; });
    for (const Line& line : lines) TRY(out_.Write(line.text));
    for (const Watched* one : ended) TRY(out_.Write(StatusLine(*one)));
    is_over = std::all_of(watched_.begin(), watched_.end(),
                          [](const Watched& one) { return one.is_done; });
    if (is_over) break;
    options_.pause(std::max<base::Duration>(options_.interval, kShortestInterval));
  }
  const bool has_lines = std::any_of(watched_.begin(), watched_.end(),
                                     [](const Watched& one) { return !one.seen.empty(); });
  // In Oracle's words, although the log is read from the run's beginning.
  if (has_log && !has_lines && !is_log_lost_) {
    TRY(out_.Write("No logs in the last 14 days. Please set time_start to see older logs.\n"));
  }
  for (const Watched& one : watched_) {
    if (const int code = ExitCodeOf(one.run); code != 0) return code;
  }
  return 0;
}

base::Result<int> FollowWithHint(RunWatch& watch, const std::string& program,
                                 const std::string& ocid) {
  const std::string words = fmt::format(
      "what runs in the cloud goes on: `{0} opctl watch {1}` follows it again, `{0} opctl cancel "
      "{1}` ends it",
      program, ocid);
  const cli::InterruptNotice notice(words, cli::kExitInterrupted);
  auto code = watch.Follow();
  if (!code) code.error().message += "; " + words;
  return code;
}

}  // namespace ads
