#include "watch/feed.h"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <thread>

#include "api/object.h"
#include "api/progress_resource.h"
#include "arena/history/ranks.h"
#include "arena/jobs/gpu_metrics.h"
#include "arena/jobs/job_events.h"
#include "arena/jobs/job_news.h"
#include "arena/listing/machine_output.h"
#include "arena/logs/log_progress.h"
#include "arena/logs/rank_lines.h"
#include "base/strings.h"

namespace watch {
namespace {

constexpr std::chrono::seconds kTick{1};
constexpr std::chrono::seconds kPastTick{5};
constexpr std::chrono::seconds kUseTick{15};  // how often metrics-server has new values
// The logs that a tick reads of a cluster that may be far away: two requests a second, however many
// instances a job has.
constexpr size_t kLogsATick = 2;
constexpr int64_t kCurvePoints = 400;

// "24/32": how many of the job's ranks are in replicas that run or have succeeded.
std::string RanksOfRow(const text::Json& job) {
  int64_t wanted = 0, up = 0;
  const text::Object* specs = text::FindObject(job, {"spec", "pytorchReplicaSpecs"});
  if (specs == nullptr) return "";
  for (const auto& spec : *specs) {
    wanted += text::GetInt(spec.value(), {"replicas"}).value_or(1);
    for (const char* state : {"active", "succeeded"}) {
      up += text::GetInt(job, {"status", "replicaStatuses", spec.key(), state}).value_or(0);
    }
  }
  const int64_t processes = arena::RankMap::Of(job).processes;
  return fmt::format("{}/{}", up * processes, wanted * processes);
}

void SetProgress(JobRow& row, const std::vector<runs::SourceProgress>& progress) {
  row.progress = progress.empty() ? "" : runs::DescribeProgress(progress.front());
  row.percent = progress.empty() ? std::nullopt : progress.front().percent;
}

JobRow RowOf(const arena::TrainingJob& job, const std::vector<runs::SourceProgress>& progress) {
  const api::TrainingSummary& summary = job.summary;
  JobRow row;
  row.namespace_name = summary.namespace_name;
  row.name = summary.name;
  row.uid = summary.uid;
  row.status = summary.status;
  row.reason = arena::ReasonToShow(summary);
  row.ranks = RanksOfRow(job.job);
  row.gpus = summary.requested_gpus > 0 ? arena::Number(summary.requested_gpus) : "";
  row.created = summary.created;
  SetProgress(row, progress);
  return row;
}

// The curve of a loss if there is one, else of the scalar with the most values.
void AddCurve(const text::Json& progress, JobView& view) {
  const text::Array* series = text::FindArray(progress, {"series"});
  if (series == nullptr) return;
  const text::Json* chosen = nullptr;
  size_t most = 0;
  for (const text::Json& one : *series) {
    const text::Array* points = text::FindArray(one, {"points"});
    const std::string name = base::ToLower(text::GetString(one, {"name"}));
    const size_t weight = (points == nullptr ? 0 : points->size()) +
                          (name.find("loss") != std::string::npos ? size_t{1} << 32 : 0);
    if (weight <= most) continue;
    most = weight;
    chosen = &one;
  }
  if (chosen == nullptr) return;
  view.curve_name = text::GetString(*chosen, {"name"});
  for (const text::Json& point : *text::FindArray(*chosen, {"points"})) {
    const text::Array* values = point.if_array();  // time, step, value
    if (values == nullptr || values->size() < 3) continue;
    if (const auto value = runs::NumberFromJson((*values)[2])) view.curve.push_back(*value);
  }
}

void AddPast(const text::Json& ranks_over_time, JobView& view) {
  const text::Array* ranks = text::FindArray(ranks_over_time, {"ranks"});
  if (ranks == nullptr) return;
  for (const text::Json& past : *ranks) {
    const text::Array* used = text::FindArray(past, {"cpu"});
    const auto number = text::GetInt(past, {"rank"});
    const auto rank = std::find_if(view.ranks.begin(), view.ranks.end(),
                                   [&](const RankRow& row) { return row.rank == number; });
    if (used == nullptr || rank == view.ranks.end()) continue;
    for (const text::Json& value : *used) rank->used.push_back(runs::NumberFromJson(value));
  }
}

// As `get --ranks` shows it.
std::optional<base::Duration> LateBy(const std::optional<answers::Lateness>& late) {
  if (!late || late->last == 0) return std::nullopt;
  return std::chrono::duration_cast<base::Duration>(late->median);
}

void Pause(std::chrono::milliseconds time) {
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, time, [] { return false; });
}

}  // namespace

base::Result<Feed*> Feed::Start(cluster::Client& client, const arena::Context& context,
                                std::string namespace_name) {
  Feed* const feed = new Feed(client, context, std::move(namespace_name));
  feed->news_ = base::Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!feed->news_) return base::Fail(base::Errno(errno, "eventfd"));
  std::thread([feed] { feed->WatchJobs(); }).detach();
  std::thread([feed] { feed->LookAtJob(); }).detach();
  return feed;
}

void Feed::SignalNews() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(news_.get(), &one, sizeof one);
}

void Feed::LookAt(const std::optional<std::pair<std::string, std::string>>& job) {
  const std::lock_guard lock(mutex_);
  shared_.wanted = job;
  shared_.view.reset();
}

bool Feed::Take(State& state) {
  uint64_t count = 0;
  [[maybe_unused]] const ssize_t taken = ::read(news_.get(), &count, sizeof count);
  const std::lock_guard lock(mutex_);
  if (!std::exchange(shared_.is_new, false)) return false;
  state.jobs = shared_.jobs;
  state.has_listed = shared_.has_listed;
  state.problem = shared_.problem;
  if (state.view && shared_.view && shared_.view->name == state.view->name &&
      shared_.view->namespace_name == state.view->namespace_name) {
    std::deque<std::string> log = std::move(state.view->log);
    state.view = shared_.view;
    state.view->log = std::move(log);
  }
  return true;
}

void Feed::HasProblem(const std::string& problem) {
  const std::lock_guard lock(mutex_);
  shared_.problem = problem;
  shared_.is_new = true;
  SignalNews();
}

void Feed::WatchProgress() {
  cluster::ReflectorHandler handler;
  handler.replace = [this](const std::vector<text::Json>& all) {
    const std::lock_guard lock(mutex_);
    running_.clear();
    for (const text::Json& job : all) TakeProgress(job, false);
  };
  handler.apply = [this](const cluster::WatchEvent& event) {
    const std::lock_guard lock(mutex_);
    TakeProgress(event.object, event.type == cluster::WatchEvent::Type::kDeleted);
  };
  progress_watch_ = std::make_unique<cluster::Reflector>(
      client_, api::kProgress, cluster::ListOptions(), std::move(handler));
}

void Feed::TakeProgress(const text::Json& job, bool is_over) {
  const std::string uid(text::GetString(job, {"uid"}));
  if (is_over) running_.erase(uid);
  if (is_over || text::FindArray(job, {"sources"}) == nullptr) return;
  const auto& progress = running_[uid] = arena::SourcesIn(job);
  for (JobRow& row : shared_.jobs) {
    if (row.uid == uid) SetProgress(row, progress);
  }
  shared_.is_new = true;
}

// News comes from a watch of the jobs.
void Feed::WatchJobs() {
  arena::JobNews news(client_, namespace_name_,
                      [this](const std::string& problem) { HasProblem(problem); });
  if (context_.cluster_is_this_machine) WatchProgress();
  std::optional<std::chrono::milliseconds> at_most;
  for (;;) {
    if (const base::Status refused = news.Await(kTick, at_most); !refused) {
      return HasProblem(refused.error().message);
    }
    at_most = ListJobs() ? std::optional<std::chrono::milliseconds>(kTick) : std::nullopt;
  }
}

bool Feed::ListJobs() {
  const auto jobs = arena::ListSelectedJobs(client_, context_, namespace_name_,
                                            std::string(arena::ListedJobs(context_)));
  std::map<std::string, std::vector<runs::SourceProgress>> progress;
  if (jobs && !context_.cluster_is_this_machine) {
    progress = arena::ProgressOfRunning(client_, context_, *jobs);
  }
  const std::lock_guard lock(mutex_);
  if (context_.cluster_is_this_machine) progress = running_;
  shared_.is_new = true;
  shared_.has_listed = true;
  shared_.problem = jobs ? "" : jobs.error().message;
  if (jobs) {
    shared_.jobs.clear();
    for (const arena::TrainingJob& job : *jobs) {
      shared_.jobs.push_back(RowOf(job, progress[job.summary.uid]));
    }
  }
  SignalNews();
  return !jobs || std::any_of(shared_.jobs.begin(), shared_.jobs.end(), ChangesWithoutNews);
}

const text::Json& Feed::RanksOverTime(const std::string& job_uid) {
  const auto now = context_.clock.Steady();
  if (job_uid != ranks_uid_ || now - ranks_asked_ >= kPastTick) {
    ranks_over_time_ = arena::RanksOverTime(client_, context_, job_uid, kPastColumns);
    ranks_uid_ = job_uid;
    ranks_asked_ = now;
  }
  return ranks_over_time_;
}

// Asks the daemon each time, and less often where the log has to be read for it.
const text::Json& Feed::Progress(const arena::TrainingJob& job) {
  const auto now = context_.clock.Steady();
  const bool is_due = context_.cluster_is_this_machine || job.summary.uid != progress_uid_ ||
                      now - progress_asked_ >= kPastTick;
  if (is_due) {
    if (job.summary.uid != progress_uid_) events_ = {};
    progress_ = arena::ProgressWithLog(client_, context_, job, kCurvePoints, arena::Times::kLeftOut,
                                       &events_);
    progress_uid_ = job.summary.uid;
    progress_asked_ = now;
  }
  return progress_;
}

base::Result<arena::TrainingJob> Feed::Find(const std::string& namespace_name,
                                            const std::string& name) {
  if (context_.cluster_is_this_machine) {
    return arena::FindJob(client_, context_, namespace_name, name);
  }
  return FindWatched(namespace_name, name);
}

base::Result<arena::TrainingJob> Feed::FindWatched(const std::string& namespace_name,
                                                   const std::string& name) {
  const std::string key = namespace_name + "/" + name;
  if (watched_ != nullptr && watched_key_ == key) {
    std::optional<text::Json> job;
    std::vector<text::Json> pods;
    const bool is_known =
        watched_->Wait(std::chrono::milliseconds(0), [&](const arena::JobWatch::Snapshot& now) {
          job = now.job;
          for (const auto& [pod_name, pod] : now.pods) pods.push_back(pod);
          return true;
        });
    if (is_known && job && api::Uid(*job) == watched_uid_) {
      return arena::WithPods(context_, *std::move(job), std::move(pods));
    }
  }
  // The lists have not come, the watch is refused, or the job is gone or another one.
  auto found = arena::FindJob(client_, context_, namespace_name, name);
  if (!found) {
    watched_.reset();
  } else if (watched_ == nullptr || watched_key_ != key || watched_uid_ != found->summary.uid) {
    watched_key_ = key;
    watched_uid_ = found->summary.uid;
    watched_ = std::make_unique<arena::JobWatch>(client_, namespace_name, name,
                                                 arena::PodSelector(found->job));
    logs_ = {};
    uses_.clear();
    past_use_.clear();
    waits_.clear();
    uses_asked_ = events_asked_ = {};
  }
  return found;
}

const std::map<std::string, arena::PodUse>& Feed::Uses(const arena::TrainingJob& job) {
  const auto now = context_.clock.Steady();
  const bool is_first = uses_asked_ == std::chrono::steady_clock::time_point{};
  if (!is_first && now - uses_asked_ < kUseTick) return uses_;
  uses_asked_ = now;
  auto uses = arena::UseOfPods(client_, job.summary.namespace_name, arena::PodSelector(job.job));
  uses_ = uses ? *std::move(uses) : std::map<std::string, arena::PodUse>();
  if (!uses && past_use_.empty()) return uses_;
  for (const api::InstanceSummary& instance : job.summary.instances) {
    auto& past = past_use_[instance.name];
    const auto use = uses_.find(instance.name);
    past.push_back(use == uses_.end() ? std::nullopt : std::optional(use->second.cpu));
    if (past.size() > kPastColumns) past.pop_front();
  }
  return uses_;
}

void Feed::AddPastUse(JobView& view) const {
  for (RankRow& rank : view.ranks) {
    const auto past = past_use_.find(rank.instance);
    if (past != past_use_.end()) rank.used.assign(past->second.begin(), past->second.end());
  }
}

std::vector<arena::RankState> Feed::Ranks(const arena::TrainingJob& job) {
  arena::LookAtRanks look;
  look.stacks = arena::RankLook::kWithoutStacks;
  look.gpus = arena::MetricsOfRunning(client_, context_, {job});
  if (!context_.cluster_is_this_machine) {
    look.most_logs = kLogsATick;
    look.uses = Uses(job);
  }
  return arena::RanksOf(client_, context_, job, logs_, look);
}

std::optional<JobView> Feed::See(const std::string& namespace_name, const std::string& name) {
  JobView view;
  view.namespace_name = namespace_name;
  view.name = name;
  auto job = Find(namespace_name, name);
  if (!job) {
    view.is_gone = job.error().code == base::Code::kNotFound;
    return view.is_gone ? std::optional(view) : std::nullopt;
  }
  AddWaits(*job);
  const text::Json& progress = Progress(*job);
  const auto sources = arena::SourcesIn(progress);
  view.row = RowOf(*job, sources);
  view.progress = arena::ProgressLines(sources);
  AddCurve(progress, view);
  for (const arena::RankState& rank : Ranks(*job)) {
    view.ranks.push_back({rank.rank,
                          rank.instance,
                          rank.state,
                          rank.step,
                          rank.quiet,
                          rank.cpu,
                          rank.memory,
                          rank.gpu ? fmt::format("{:.0f}%", rank.gpu->duty_cycle) : "",
                          LateBy(rank.late),
                          {},
                          rank.restarts,
                          rank.last_end,
                          rank.waits});
  }
  AddPast(RanksOverTime(job->summary.uid), view);
  if (!context_.cluster_is_this_machine) AddPastUse(view);
  return view;
}

// Events cannot be watched by their object, so they are read now and then.
void Feed::AddWaits(arena::TrainingJob& job) {
  const auto now = context_.clock.Steady();
  const bool is_first = events_asked_ == std::chrono::steady_clock::time_point{};
  if (is_first || now - events_asked_ >= kUseTick) {
    events_asked_ = now;
    reason_ = {job.summary.uid, job.summary.reason, ""};
    arena::AddWordsOfEvents(client_, context_, job);
    reason_.with_events = job.summary.reason;
    waits_.clear();
    for (const auto& instance : job.summary.instances) waits_[instance.name] = instance.waits;
    return;
  }
  if (job.summary.uid == reason_.uid && job.summary.reason == reason_.without_events) {
    job.summary.reason = reason_.with_events;
  }
  for (api::InstanceSummary& instance : job.summary.instances) {
    const bool is_starting = instance.waits.empty() && instance.status == "ContainerCreating";
    if (is_starting) instance.waits = waits_[instance.name];
  }
}

void Feed::LookAtJob() {
  for (;;) {
    std::optional<std::pair<std::string, std::string>> wanted;
    {
      const std::lock_guard lock(mutex_);
      wanted = shared_.wanted;
    }
    if (wanted) {
      auto view = See(wanted->first, wanted->second);
      const std::lock_guard lock(mutex_);
      if (view && shared_.wanted == wanted) {
        shared_.view = std::move(view);
        shared_.is_new = true;
        SignalNews();
      }
    }
    Pause(kTick);
  }
}

}  // namespace watch
