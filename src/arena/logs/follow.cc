#include "arena/logs/follow.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "api/job/training_summary.h"
#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "api/stall.h"
#include "arena/app/program_name.h"
#include "arena/jobs/jobs.h"
#include "arena/logs/log_lines.h"
#include "base/backoff.h"
#include "base/defer.h"
#include "base/log.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;
using std::chrono::milliseconds;
using std::chrono::seconds;

// A start that takes no longer than this is not reported.
constexpr milliseconds kUsualStart{1000};

// Following ends if the server is unreachable for this long.
constexpr seconds kPatience{30};

enum class Stage {
  kWaiting,   // its log cannot be read yet
  kRunning,   // the container runs, or ran and may run again
  kFinished,  // the pod has ended
  kGone,
};

const text::Json* ContainerStatus(const text::Json& pod, std::string_view container) {
  for (const std::string_view list : {"containerStatuses", "initContainerStatuses"}) {
    const text::Json* const status = text::ItemNamed(pod, {"status", list}, container);
    if (status != nullptr) return status;
  }
  return nullptr;
}

bool HasStarted(const text::Json& pod, std::string_view container) {
  const text::Json* status = ContainerStatus(pod, container);
  return status != nullptr && (text::Find(*status, {"state", "running"}) != nullptr ||
                               text::Find(*status, {"state", "terminated"}) != nullptr ||
                               text::Find(*status, {"lastState", "terminated"}) != nullptr);
}

bool IsRunning(const text::Json& pod, std::string_view container) {
  const text::Json* status = ContainerStatus(pod, container);
  return status != nullptr && text::Find(*status, {"state", "running"}) != nullptr;
}

// Returns the container in which the training runs: `pytorch`, or the only one of the pod.
std::string TrainingContainer(const text::Json& pod) {
  const text::Json* const main = api::MainContainer(pod);
  return std::string(main == nullptr ? api::kContainerName : text::GetString(*main, {"name"}));
}

class Follower {
 public:
  Follower(cluster::Client& client, const Context& context, const FollowRequest& request,
           cli::Output& out)
      : client_(client),
        context_(context),
        request_(request),
        out_(out),
        own_watch_(request.watch != nullptr
                       ? nullptr
                       : std::make_unique<JobWatch>(client, request.namespace_name, request.job,
                                                    request.pod_selector)),
        watch_(request.watch != nullptr ? *request.watch : *own_watch_),
        probe_(client, request.namespace_name, request.job),
        lines_(request.options.timestamps) {
    lines_.ShowOpenLine();
    BeWokenBy([this] { watch_.Wake(); });
  }
  ~Follower() { BeWokenBy(nullptr); }
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  base::Status Run();

 private:
  struct View {
    Stage stage = Stage::kWaiting;
    bool is_running = false;
    std::string container;
    std::string status;  // as kubectl shows it
    std::string reason;  // why it waits, before its first start or a later one; "" if unknown
  };
  View ViewOf(const JobWatch::Snapshot& snapshot) const;
  std::string WhyPending(const text::Json& job, const std::vector<const text::Json*>& pods) const;
  base::Result<View> WaitFor(const std::function<bool(const View&)>& done);
  // Returns as soon as there is a log to read or a reason why there is none, and at the latest
  // after kUsualStart.
  void AwaitUsualStart();
  // Reads one stream to its end; returns kUnavailable if it broke.
  base::Status Stream(const std::string& container, bool follow);
  base::Status StreamPatiently(const std::string& container, bool follow);
  base::Status PrintFailedInit(const std::string& container);
  void SayUnreadable(const base::Error& error, std::string_view then);
  // Says so if that lasts; a container that starts again may have no log for a moment.
  void NoteUnreadable(const base::Error& error);
  // After a stop: reads what the log contains by now, and no more.
  base::Status PrintRest(const View& view);
  void Pause() { context_.pause(backoff_.Next()); }
  void BeWokenBy(std::function<void()> wake) {
    if (request_.stop) request_.stop->SetWake(std::move(wake));
  }
  bool IsEnding() const { return request_.is_ending != nullptr && *request_.is_ending; }
  bool IsStopped() const { return request_.stop && request_.stop->IsStopped(); }

  cluster::Client& client_;
  const Context& context_;
  const FollowRequest& request_;
  cli::Output& out_;
  const std::unique_ptr<JobWatch> own_watch_;
  JobWatch& watch_;
  JobProbe probe_;
  LogLines lines_;
  bool is_all_new_ = false;  // it had not begun: -t is about lines that were there already
  bool has_printed_ = false;
  std::optional<std::chrono::steady_clock::time_point> unreadable_since_;
  bool is_unreadable_said_ = false;
  base::Backoff backoff_{milliseconds(50), seconds(2)};
};

std::string Follower::WhyPending(const text::Json& job,
                                 const std::vector<const text::Json*>& pods) const {
  api::TrainingSummary summary = api::Summarize(job, pods, context_.clock.Now());
  const bool is_between = summary.status == "RUNNING" &&
                          api::TextOfStall(api::Annotation(job, api::kStallAnnotation)).empty();
  if (!api::IsWaiting(summary.status) && !is_between) return "";
  return InLocalTime(UseProgramName(context_, std::move(summary.reason)));
}

Follower::View Follower::ViewOf(const JobWatch::Snapshot& snapshot) const {
  View view;
  const auto found = snapshot.pods.find(request_.instance);
  if (found == snapshot.pods.end()) {
    // A job that exists and has not ended will create the pod, or create it again.
    view.stage =
        snapshot.job && !api::IsJobFinished(*snapshot.job) ? Stage::kWaiting : Stage::kGone;
    view.status = "not created yet";
    if (snapshot.job) view.reason = WhyPending(*snapshot.job, {});
    return view;
  }
  const text::Json& pod = found->second;
  view.container = request_.container.empty() ? TrainingContainer(pod) : request_.container;
  view.status = api::PodStatusText(pod);
  view.is_running = IsRunning(pod, view.container);
  if (snapshot.job) view.reason = WhyPending(*snapshot.job, {&pod});
  if (api::IsPodFinished(pod)) {
    view.stage = Stage::kFinished;
  } else if (HasStarted(pod, view.container)) {
    view.stage = Stage::kRunning;
  }
  return view;
}

base::Result<Follower::View> Follower::WaitFor(const std::function<bool(const View&)>& done) {
  View view;
  for (;;) {
    // A watch that is shared also wakes up for changes that do not concern this instance.
    std::optional<uint64_t> seen;
    const auto look = [&](const JobWatch::Snapshot& snapshot) {
      if (seen != snapshot.version) view = ViewOf(snapshot);
      seen = snapshot.version;
      return done(view) || IsStopped();
    };
    if (watch_.Wait(kProbeInterval, look)) return view;
    TRY(request_.is_looked_for ? watch_.Refusal() : probe_.Look(watch_));
  }
}

void Follower::AwaitUsualStart() {
  watch_.Wait(kUsualStart, [this](const JobWatch::Snapshot& snapshot) {
    const View view = ViewOf(snapshot);
    is_all_new_ = is_all_new_ || view.stage == Stage::kWaiting;
    return view.stage != Stage::kWaiting || !view.reason.empty() || IsStopped();
  });
}

base::Status Follower::Stream(const std::string& container, bool follow) {
  cluster::LogOptions options = request_.options;
  options.container = container;
  options.follow = follow;
  options.timestamps = true;
  if (const std::string since = lines_.Since(); !since.empty()) {
    options.since_time = since;
    options.since_seconds.reset();
    options.tail_lines.reset();
  }
  if (is_all_new_) options.tail_lines.reset();
  lines_.Begin();
  TRY_ASSIGN(const std::unique_ptr<net::BodyStream> stream,
             client_.Logs(request_.namespace_name, request_.instance, options));
  // Only following can be interrupted: the last read of what the log contains is always completed.
  if (follow) BeWokenBy([&stream] { stream->Cancel(); });
  base::Defer sleep_again([this] { BeWokenBy([this] { watch_.Wake(); }); });
  for (;;) {
    TRY_ASSIGN(const std::optional<std::string> bytes, stream->Read());
    if (!bytes) break;
    has_printed_ = true;
    TRY(out_.Write(lines_.Feed(*bytes)));
    if (request_.on_open_line) request_.on_open_line(lines_.OpenText());
  }
  if (request_.on_open_line) request_.on_open_line("");
  // The next read begins with the unfinished line again, unless this was the last read.
  if (!follow) TRY(out_.Write(lines_.End()));
  return {};
}

base::Status Follower::StreamPatiently(const std::string& container, bool follow) {
  const auto began = context_.clock.Steady();
  for (;;) {
    base::Status status = Stream(container, follow);
    if (status || status.error().code != Code::kUnavailable) return status;
    const bool is_patience_out =
        !lines_.has_progress() && context_.clock.Steady() - began > kPatience;
    if (is_patience_out) return status;
    if (lines_.has_progress()) return {};
    base::LogDebug("the log stream broke, opening it again: {}", status.error().message);
    Pause();
  }
}

base::Status Follower::PrintFailedInit(const std::string& container) {
  if (!request_.container.empty()) return {};
  const auto pod = client_.Get(api::kPods, request_.namespace_name, request_.instance);
  if (!pod || HasStarted(*pod, container) || !HasStarted(*pod, api::kArenaCodeContainer)) {
    return {};
  }
  base::LogWarn("instance {} ended before its training began: the log of its code sync follows",
                request_.instance);
  return StreamPatiently(std::string(api::kArenaCodeContainer), false);
}

void Follower::SayUnreadable(const base::Error& error, std::string_view then) {
  if (std::exchange(is_unreadable_said_, true)) return;
  base::LogWarn("the log of instance {} cannot be read: {}{}", request_.instance, error.message,
                then);
}

void Follower::NoteUnreadable(const base::Error& error) {
  const auto now = context_.clock.Steady();
  if (!unreadable_since_) unreadable_since_ = now;
  if (now - *unreadable_since_ >= kUsualStart) SayUnreadable(error, "; trying on");
}

base::Status Follower::PrintRest(const View& view) {
  if (view.stage == Stage::kWaiting || view.stage == Stage::kGone) return {};
  const base::Status status = StreamPatiently(view.container, false);
  const bool is_gone = !status && (status.error().code == Code::kNotFound ||
                                   status.error().code == Code::kInvalidArgument);
  return is_gone ? base::Status() : status;
}

base::Status Follower::Run() {
  std::optional<std::string> reported;  // what the user was told that it waits for
  AwaitUsualStart();
  for (;;) {
    TRY(watch_.Refusal());
    base::Result<View> view = WaitFor([&](const View& now) {
      return now.stage != Stage::kWaiting || !reported ||
             (!now.reason.empty() && now.reason != *reported);
    });
    if (!view) return Fail(std::move(view.error()));
    if (IsStopped()) return PrintRest(*view);
    if (view->stage == Stage::kWaiting) {
      reported = view->reason.empty() ? view->status : view->reason;
      if (IsEnding()) continue;
      if (request_.on_wait) {
        request_.on_wait(*reported);
      } else {
        base::LogInfo("waiting for instance {} to start: {}", request_.instance, *reported);
      }
      continue;
    }
    if (reported && request_.on_wait) request_.on_wait("");
    if (view->stage == Stage::kGone) return {};
    if (view->stage == Stage::kFinished) {
      // The streams may have ended because of the server rather than the pod, so that the rest is
      // read once more.
      if (base::Status status = StreamPatiently(view->container, false); !status) {
        TRY(PrintFailedInit(view->container));
        if (status.error().code != Code::kInvalidArgument &&
            status.error().code != Code::kNotFound) {
          return status;
        }
        if (!has_printed_) SayUnreadable(status.error(), "");
        return {};
      }
      return PrintFailedInit(view->container);
    }
    const base::Status status = StreamPatiently(view->container, true);
    if (IsStopped()) return PrintRest(*view);
    if (!status && status.error().code != Code::kNotFound &&
        status.error().code != Code::kInvalidArgument) {
      return Fail(status.error());
    }
    if (status) {
      unreadable_since_.reset();
      is_unreadable_said_ = false;
    } else {
      NoteUnreadable(status.error());
    }
    if (lines_.has_progress()) backoff_.Reset();
    // The stream ended either with its container, whose status may show this a little later, or
    // because of the server; then the container still runs, and its log continues.
    const auto has_ended = [this](const JobWatch::Snapshot& now) {
      const View after = ViewOf(now);
      return after.stage != Stage::kRunning || !after.is_running || IsStopped();
    };
    const base::Duration moment = backoff_.Next();
    if (!watch_.Wait(std::chrono::ceil<milliseconds>(moment), has_ended)) continue;
    TRY(WaitFor([](const View& now) { return now.is_running || now.stage != Stage::kRunning; }));
  }
}

}  // namespace

void FollowStop::Stop() {
  const std::lock_guard lock(mutex_);
  is_stopped_ = true;
  if (wake_) wake_();
}

void FollowStop::SetWake(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
  if (is_stopped_ && wake_) wake_();
}

base::Status Follow(cluster::Client& client, const Context& context, const FollowRequest& request,
                    cli::Output& out) {
  return Follower(client, context, request, out).Run();
}

}  // namespace arena
