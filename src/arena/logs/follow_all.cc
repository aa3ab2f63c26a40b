#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <thread>

#include "api/job/training_summary.h"
#include "api/object.h"
#include "api/pod.h"
#include "arena/jobs/job_watch.h"
#include "arena/logs/all_logs.h"
#include "arena/logs/folded_waits.h"
#include "arena/logs/follow.h"
#include "arena/logs/live_output.h"
#include "arena/logs/log_lines.h"
#include "arena/logs/log_merge.h"
#include "base/guarded.h"
#include "base/log.h"

namespace arena {
namespace {

using base::Code;
using std::chrono::milliseconds;

// Passes lines from the followers' threads to the thread that prints.
class Inbox {
 public:
  explicit Inbox(JobWatch& watch) : watch_(watch) {}

  void Add(const std::string& instance, std::vector<TimedLine> lines) {
    {
      auto content = content_.Lock();
      for (TimedLine& line : lines) content->push_back({instance, std::move(line)});
    }
    Ring();
  }
  void SetOpen(const std::string& instance, std::string_view text) {
    {
      auto open = open_.Lock();
      std::string& stored = (*open)[instance];
      if (stored == text) return;
      stored = text;
    }
    Ring();
  }
  std::map<std::string, std::string> Open() { return *open_.Lock(); }
  void SetWait(const std::string& instance, const std::string& why,
               std::chrono::steady_clock::time_point now) {
    waits_.Lock()->Set(instance, why, now);
    Ring();
  }
  base::Guarded<FoldedWaits>& waits() { return waits_; }
  // Wakes the thread that prints, because there is something new.
  void Ring() {
    is_rung_ = true;
    watch_.Wake();
  }
  // Whether Ring was called since the last Take.
  bool IsRung() const { return is_rung_; }

  struct Entry {
    std::string instance;
    TimedLine line;
  };
  std::vector<Entry> Take() {
    is_rung_ = false;
    return std::exchange(*content_.Lock(), {});
  }

 private:
  JobWatch& watch_;
  std::atomic<bool> is_rung_{false};  // read under the watch's lock
  base::Guarded<std::vector<Entry>> content_;
  base::Guarded<std::map<std::string, std::string>> open_;  // lines without an end
  base::Guarded<FoldedWaits> waits_;
};

// Receives the lines that Follow prints for one instance.
class InstanceOutput : public cli::Output {
 public:
  InstanceOutput(Inbox& inbox, std::string instance, std::string printed_to)
      : inbox_(inbox), instance_(std::move(instance)), printed_to_(std::move(printed_to)) {}

  base::Status Write(std::string_view text) override {
    std::vector<TimedLine> lines = SplitTimedLines(text, last_time_);
    // If the instance is followed once more, some lines were already printed.
    std::erase_if(lines, [&](const TimedLine& line) {
      return !printed_to_.empty() && line.time <= printed_to_;
    });
    if (!lines.empty()) inbox_.Add(instance_, std::move(lines));
    return {};
  }
  const std::string& last_time() const { return last_time_; }

 private:
  Inbox& inbox_;
  const std::string instance_;
  const std::string printed_to_;
  std::string last_time_;
};

// An instance, which may have several pods one after another.
struct Instance {
  std::string uid;  // of the pod that is followed, or was last
  std::string last_time;
  std::unique_ptr<InstanceOutput> output;
  std::shared_ptr<FollowStop> stop;
  std::atomic<bool> is_done{true};  // the thread has nothing left to do
  base::Status status;              // once is_done
  std::jthread thread;
};

class AllFollower {
 public:
  AllFollower(cluster::Client& client, const Context& context, const AllLogsRequest& request,
              cli::Output& out)
      : client_(client),
        context_(context),
        request_(request),
        namespace_(request.job.summary.namespace_name),
        name_(request.job.summary.name),
        selector_(PodSelector(request.job.job)),
        watch_(client, namespace_, name_, selector_),
        probe_(client, namespace_, name_),
        out_(client, context, request.job.job, out, &watch_),
        lines_(request),
        inbox_(watch_) {}
  ~AllFollower() {
    for (const auto& [name, instance] : instances_) instance.stop->Stop();
  }
  AllFollower(const AllFollower&) = delete;
  AllFollower& operator=(const AllFollower&) = delete;

  base::Status Run();

 private:
  struct View {
    bool has_ended = false;                   // the job has ended or is gone
    bool leaves_pods = false;                 // according to its cleanPodPolicy
    std::map<std::string, std::string> pods;  // uid by name
    std::set<std::string> ended;              // names
    bool operator==(const View&) const = default;
  };
  View ViewOf(const JobWatch::Snapshot& snapshot) const;
  base::Status AwaitNews();
  void FollowNewPods();
  void Begin(const std::string& name, const std::string& uid);
  base::Status Print();
  bool IsOver() const;
  void StopThoseThatGoOn();

  cluster::Client& client_;
  const Context& context_;
  const AllLogsRequest& request_;
  const std::string namespace_;
  const std::string name_;
  const std::string selector_;
  JobWatch watch_;
  JobProbe probe_;
  LiveOutput out_;
  MergedLines lines_;
  LogMerge merge_;
  Inbox inbox_;
  std::optional<View> view_;
  bool has_reported_ = false;                  // whether the wait for the first pod was reported
  std::map<std::string, Instance> instances_;  // last, because its threads use the other members
};

AllFollower::View AllFollower::ViewOf(const JobWatch::Snapshot& snapshot) const {
  View view;
  view.has_ended = !snapshot.job || api::Uid(*snapshot.job) != request_.job.summary.uid ||
                   api::IsJobFinished(*snapshot.job);
  const std::string_view policy =
      snapshot.job ? text::GetString(*snapshot.job, {"spec", "runPolicy", "cleanPodPolicy"}) : "";
  view.leaves_pods = snapshot.job && (policy == "None" || policy.empty());
  for (const auto& [name, pod] : snapshot.pods) {
    if (api::ControllerUid(pod) != request_.job.summary.uid) continue;
    view.pods[name] = api::Uid(pod);
    if (api::IsPodFinished(pod)) view.ended.insert(name);
  }
  return view;
}

base::Status AllFollower::AwaitNews() {
  auto next = merge_.NextAt();
  for (const auto& other : {lines_.NextAt(), inbox_.waits().Lock()->NextAt()}) {
    if (other && (!next || *other < *next)) next = other;
  }
  const auto now = context_.clock.Steady();
  const milliseconds timeout =
      next ? std::max(std::chrono::ceil<milliseconds>(*next - now), milliseconds(0))
           : milliseconds(kProbeInterval);
  const bool has_news = watch_.Wait(timeout, [&](const JobWatch::Snapshot& snapshot) {
    View view = ViewOf(snapshot);
    const bool is_new = !view_ || view != *view_;
    if (is_new) view_ = std::move(view);
    return is_new || inbox_.IsRung() || request_.stop.stop_requested();
  });
  return has_news || next ? watch_.Refusal() : probe_.Look(watch_);
}

void AllFollower::Begin(const std::string& name, const std::string& uid) {
  Instance& instance = instances_[name];
  if (instance.thread.joinable()) instance.thread.join();
  if (instance.output) instance.last_time = instance.output->last_time();
  instance.uid = uid;
  instance.is_done = false;
  instance.stop = std::make_shared<FollowStop>();
  instance.output = std::make_unique<InstanceOutput>(inbox_, name, instance.last_time);
  FollowRequest request{namespace_,       name_,        selector_, name, request_.options.container,
                        request_.options, instance.stop};
  request.options.timestamps = true;
  request.is_ending = request_.is_ending;
  request.watch = &watch_;
  request.is_looked_for = true;
  request.on_wait = [this, name](const std::string& why) {
    inbox_.SetWait(name, why, context_.clock.Steady());
  };
  if (out_.IsTerminal()) {
    request.on_open_line = [this, name](std::string_view text) { inbox_.SetOpen(name, text); };
  }
  instance.thread = std::jthread([this, &instance, request = std::move(request)] {
    instance.status = Follow(client_, context_, request, *instance.output);
    instance.is_done = true;
    inbox_.Ring();
  });
}

void AllFollower::FollowNewPods() {
  for (const auto& [name, uid] : view_->pods) {
    const auto known = instances_.find(name);
    // A follower that still runs continues with a new pod by itself.
    const bool is_new =
        known == instances_.end() || (known->second.is_done && known->second.uid != uid);
    if (is_new) Begin(name, uid);
  }
}

void AllFollower::StopThoseThatGoOn() {
  if (!view_->has_ended || !view_->leaves_pods) return;
  for (auto& [name, instance] : instances_) {
    if (!instance.is_done && !view_->ended.contains(name)) instance.stop->Stop();
  }
}

base::Status AllFollower::Print() {
  const auto now = context_.clock.Steady();
  for (const std::string& line : inbox_.waits().Lock()->Take(now)) base::LogInfo("{}", line);
  for (Inbox::Entry& entry : inbox_.Take()) {
    merge_.Add(std::move(entry.instance), std::move(entry.line), now);
  }
  const bool is_over = IsOver();
  for (LogMerge::Line& line : is_over ? merge_.TakeAll() : merge_.Take(now)) {
    lines_.Add(line.instance, std::move(line.line), now);
  }
  const std::string text = lines_.Take(is_over ? std::nullopt : std::optional(now));
  // The bars come first: one that has become a line must not be drawn again below it.
  out_.SetBars(is_over ? std::vector<std::string>() : lines_.Bars(inbox_.Open()));
  return text.empty() ? base::Status() : out_.Write(text);
}

bool AllFollower::IsOver() const {
  return view_ && view_->has_ended && !inbox_.IsRung() &&
         std::all_of(instances_.begin(), instances_.end(),
                     [](const auto& entry) { return entry.second.is_done.load(); });
}

base::Status AllFollower::Run() {
  const std::stop_callback wake(request_.stop, [this] { watch_.Wake(); });
  for (;;) {
    TRY(AwaitNews());
    if (request_.stop.stop_requested()) return {};
    if (!view_) continue;
    if (!has_reported_ && view_->pods.empty() && !view_->has_ended) {
      base::LogInfo("waiting for the instances of the job {}", name_);
    }
    has_reported_ = true;
    FollowNewPods();
    StopThoseThatGoOn();
    TRY(Print());
    if (IsOver()) break;
  }
  TRY(Print());  // prints what came between the last look and the end
  for (const auto& [name, instance] : instances_) {
    if (!instance.status && instance.status.error().code != Code::kCancelled) {
      return base::Fail(instance.status.error().Wrap(name));
    }
  }
  return {};
}

}  // namespace

base::Status FollowAllLogs(cluster::Client& client, const Context& context,
                           const AllLogsRequest& request, cli::Output& out) {
  return AllFollower(client, context, request, out).Run();
}

}  // namespace arena
