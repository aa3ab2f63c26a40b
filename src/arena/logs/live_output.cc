#include "arena/logs/live_output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "api/job/training_summary.h"
#include "api/object.h"
#include "api/pod.h"
#include "arena/app/program_name.h"
#include "arena/jobs/jobs.h"
#include "arena/logs/restart_news.h"
#include "arena/logs/status_text.h"
#include "base/guarded.h"
#include "base/log.h"
#include "base/log_writer.h"
#include "base/strings.h"

namespace arena {
namespace {

using std::chrono::seconds;

constexpr seconds kTick{1};
constexpr seconds kUntilNews{3600};
constexpr seconds kJustBefore{10};  // following may begin this late on a busy machine
constexpr std::chrono::milliseconds kUntilItEnds{500};
constexpr size_t kMostBars = 8;

// Whether all programs of the pod run: none has ended and waits for its restart.
bool IsUp(const text::Json& pod) {
  if (text::GetString(pod, {"status", "phase"}) != "Running") return false;
  const auto statuses = api::ContainerStatuses(pod);
  return std::none_of(statuses.begin(), statuses.end(),
                      [](const api::ContainerStatus& status) { return status.is_waiting; });
}

std::vector<const text::Json*> PodsOf(const JobWatch::Snapshot& now, const std::string& job) {
  std::vector<const text::Json*> pods;
  for (const auto& [name, pod] : now.pods) {
    if (api::ControllerUid(pod) == job) pods.push_back(&pod);
  }
  return pods;
}

// The result contains no durations, which change by themselves.
FollowedJob LookAt(const JobWatch::Snapshot& now, const std::string& uid,
                   const std::vector<const text::Json*>& pods, const RankMap& ranks,
                   base::Time time, std::optional<base::Time>& start) {
  FollowedJob job;
  job.ranks = ranks.size();
  if (!now.job || api::Uid(*now.job) != uid) return job;
  for (const text::Json* const pod : pods) {
    if (IsUp(*pod)) job.up += ranks.processes;
  }
  api::TrainingSummary summary = api::Summarize(*now.job, pods, time);
  job.reason = std::move(summary.reason);
  if (job.up > 0) start = summary.start_time;
  return job;
}

// The output that draws now; a command follows one job at a time.
base::Guarded<LiveOutput*>& Shown() {
  static auto* const shown = new base::Guarded<LiveOutput*>(nullptr);
  return *shown;
}

}  // namespace

LiveOutput::LiveOutput(cluster::Client& client, const Context& context, const text::Json& job,
                       cli::Output& out, JobWatch* watch)
    : context_(context),
      out_(out),
      uid_(api::Uid(job)),
      ranks_(RankMap::Of(job)),
      since_(context.clock.Now() - kJustBefore),
      begun_(context.clock.Steady()),
      bottom_(out),
      last_output_(begun_) {
  if (out.IsTerminal()) {
    base::SetLogWriter([this](std::string_view line) { LogAbove(line); });
    *Shown().Lock() = this;
  }
  // Under Arena's name there are no such lines.
  if (context.program == "arena") return;
  if (watch == nullptr) {
    own_watch_ = std::make_unique<JobWatch>(client, std::string(api::Namespace(job)),
                                            std::string(api::Name(job)), PodSelector(job));
  }
  watch_ = watch != nullptr ? watch : own_watch_.get();
  thread_ = std::thread([this] { Run(); });
}

LiveOutput::~LiveOutput() {
  is_over_ = true;
  if (watch_ != nullptr) watch_->Wake();
  if (thread_.joinable()) thread_.join();
  if (!out_.IsTerminal()) return;
  *Shown().Lock() = nullptr;
  base::SetLogWriter({});
  bottom_.Clear();
}

void LiveOutput::TakeAway() {
  const std::lock_guard lock(mutex_);
  bottom_.Clear();
  is_taken_away_ = true;
}

void TakeAwayLiveLines() {
  auto shown = Shown().Lock();
  if (*shown != nullptr) (*shown)->TakeAway();
}

base::Status LiveOutput::Write(std::string_view text) {
  base::Status written = WriteText(text);
  std::string lost;
  if (watch_ != nullptr) {
    const std::lock_guard lock(mutex_);
    if (auto line = loss_.Add(text); line && !has_lost_loss_) {
      has_lost_loss_ = true;
      lost = std::move(*line);
    }
  }
  // The pod's own launcher may have said so already; it also ends the job for that reason.
  constexpr std::string_view kSaid = "a loss is not a number any more: ";
  if (!lost.empty() && lost.find(kSaid) == std::string::npos) {
    base::LogWarn("{}{}", kSaid, base::OneLine(lost, 200));
  }
  return written;
}

base::Status LiveOutput::WriteText(std::string_view text) {
  if (!out_.IsTerminal() || text.empty()) return out_.Write(text);
  const std::lock_guard lock(mutex_);
  last_output_ = context_.clock.Steady();
  bottom_.Clear();
  is_at_line_start_ = text.ends_with('\n');
  base::Status written = out_.Write(text);
  DrawLocked();
  return written;
}

void LiveOutput::SetBars(std::vector<std::string> bars) {
  if (!out_.IsTerminal()) return;
  if (bars.size() > kMostBars) bars.resize(kMostBars);
  const std::lock_guard lock(mutex_);
  if (bars == bars_) return;
  if (!bars.empty()) last_output_ = context_.clock.Steady();
  bars_ = std::move(bars);
  DrawLocked();
}

// Nothing is drawn while a program has printed only the beginning of a line.
void LiveOutput::DrawLocked() {
  if (!is_at_line_start_ || is_taken_away_) return;
  std::vector<std::string> lines = bars_;
  if (!status_.empty()) lines.push_back(status_);
  bottom_.Draw(lines);
}

void LiveOutput::LogAbove(std::string_view line) {
  const std::lock_guard lock(mutex_);
  bottom_.Clear();
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
  DrawLocked();
}

// Whether the end of a program was the end of the job, because no restart is left. The job's status
// shows this a moment later.
bool LiveOutput::EndsSoon() {
  return watch_->Wait(kUntilItEnds, [this](const JobWatch::Snapshot& now) {
    return is_over_ || !now.job || api::IsJobFinished(*now.job);
  });
}

void LiveOutput::Run() {
  std::optional<base::Time> start;
  FollowedJob job;
  RestartNews news(since_);
  std::vector<Restart> restarts;
  const bool is_terminal = out_.IsTerminal();
  while (!is_over_ && watch_->Refusal()) {
    watch_->Wait(is_terminal ? kTick : kUntilNews, [&](const JobWatch::Snapshot& now) {
      const auto pods = PodsOf(now, uid_);
      restarts = news.See(pods);
      if (is_terminal) job = LookAt(now, uid_, pods, ranks_, context_.clock.Now(), start);
      return is_over_ || !restarts.empty();
    });
    for (const Restart& restart : restarts) {
      if (!restart.is_to_come || !EndsSoon()) base::LogWarn("{}", restart.text);
    }
    if (is_over_) return;
    if (!is_terminal) continue;
    const auto steady = context_.clock.Steady();
    job.reason = InLocalTime(UseProgramName(context_, std::move(job.reason)));
    job.elapsed = start ? context_.clock.Now() - *start
                        : std::chrono::duration_cast<base::Duration>(steady - begun_);
    const std::lock_guard lock(mutex_);
    job.quiet = std::chrono::duration_cast<base::Duration>(steady - last_output_);
    status_ = StatusText(job);
    DrawLocked();
  }
}

LiveLines::LiveLines(cluster::Client& client, const Context& context, const text::Json& job,
                     LineChoice choice, std::string instance, bool has_timestamps, cli::Output& out)
    : live_(client, context, job, out),
      lines_(live_, std::move(choice), std::move(instance), has_timestamps) {
  lines_.SetOnBar([this](const RankBar& bar) { TakeBar(bar); });
}

void LiveLines::TakeBar(const RankBar& bar) {
  if (bar.text.empty() && !bars_.contains(bar.rank)) return;
  if (bar.text.empty()) {
    bars_.erase(bar.rank);
  } else {
    bars_[bar.rank] = bar.text;
  }
  std::vector<std::string> lines;
  for (const auto& [rank, text] : bars_) lines.push_back(fmt::format("[rank{}]: {}", rank, text));
  live_.SetBars(std::move(lines));
}

}  // namespace arena
