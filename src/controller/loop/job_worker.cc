#include "controller/loop/job_worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "api/names.h"
#include "api/object.h"
#include "api/resources.h"
#include "base/defer.h"
#include "base/log.h"
#include "base/strings.h"
#include "reconcile/node_loss.h"
#include "reconcile/pod/pod_template.h"

namespace controller {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr base::Duration kFirstBackoff = milliseconds(5);
constexpr base::Duration kMaxBackoff = seconds(60);
// A job whose reconciliation takes this long is a large one: it waits a multiple of that time
// before the next, so that news accumulate.
constexpr base::Duration kLongThought = milliseconds(10);
constexpr int kRestFactor = 3;
// Limits while other jobs wait: the creations of one type in a plan, so that a dozen plans take a
// few MiB, and the plans that follow one another before the job is queued behind the others.
constexpr int kCreationsBesideOthers = 32;
constexpr int kPlansInARow = 8;
constexpr base::Duration kLongestPassRest = seconds(1);
constexpr seconds kCountsRest{1};

std::optional<int> DeclaredPortOfRank0(const text::Json& job) {
  for (const std::string_view type : {api::kMaster, api::kWorker}) {
    const text::Json* const pod_template =
        text::Find(job, {"spec", "pytorchReplicaSpecs", type, "template"});
    if (pod_template != nullptr) return reconcile::DeclaredPort(*pod_template);
  }
  return std::nullopt;
}

// The port of rank 0 that the job's own pods carry. Those of an earlier job of its name may be
// there still, and their port may be another job's by now.
std::optional<int> PortOfPods(const JobCache::Snapshot& snapshot) {
  std::optional<int> port;
  for (const ObjectPtr& pod : snapshot.pods) {
    if (api::ControllerUid(*pod) != api::Uid(*snapshot.job)) continue;
    const auto carried = base::ParseInt(
        text::GetString(*pod, {"metadata", "annotations", api::kMasterPortAnnotation}));
    if (carried) port = static_cast<int>(*carried);
  }
  return port;
}

}  // namespace

JobWorker::JobWorker(cluster::Client& client, base::Clock& clock, const Options& options,
                     EventSink events)
    : client_(client),
      clock_(clock),
      options_(options),
      events_(std::move(events)),
      queue_(clock, kFirstBackoff, kMaxBackoff) {}

bool JobWorker::WorkOne() {
  base::Duration waited{};
  const auto key = queue_.Get(&waited);
  if (key) WorkOn(*key, waited);
  return key.has_value();
}

bool JobWorker::WorkOneNow() {
  base::Duration waited{};
  const auto key = queue_.TryGet(&waited);
  if (key) WorkOn(*key, waited);
  return key.has_value();
}

void JobWorker::WorkOn(const std::string& key, base::Duration waited) {
  const auto begin = clock_.Steady();
  base::Duration rest{};
  base::Status status;
  bool has_more = true;
  for (int plans = 0; status && has_more && plans < kPlansInARow; ++plans) {
    if (plans > 0 && queue_.is_stopped()) break;
    status = ReconcileOne(key, waited, rest, has_more);
  }
  if (status && has_more) queue_.Add(key);
  if (options_.metrics != nullptr) {
    options_.metrics->CountPass(status.has_value(),
                                std::chrono::duration_cast<base::Duration>(clock_.Steady() - begin),
                                waited);
  }
  if (status) {
    queue_.Forget(key);
    complained_.Lock()->erase(key);
  } else {
    // A conflict only means that news are on the way, and other errors are logged once.
    const base::Code code = status.error().code;
    const bool is_news = code != base::Code::kConflict && code != base::Code::kCancelled &&
                         complained_.Lock()->insert(key).second;
    base::Log(is_news && options_.is_operator ? base::LogLevel::kWarn : base::LogLevel::kDebug,
              status.error().message + "; trying on", {{"job", key}});
    queue_.AddWithBackoff(key);
  }
  queue_.Done(key, rest);
}

base::Status JobWorker::ReconcileOne(const std::string& key, base::Duration waited,
                                     base::Duration& rest, bool& has_more) {
  has_more = false;
  TRY_ASSIGN(const std::optional<JobCache::Snapshot> snapshot, LookUp(key));
  if (!snapshot) {
    queue_.Drop(key);
    counts_wait_.Lock()->erase(key);
    WakeWaiting(key);
    return {};
  }
  const auto begin = clock_.Steady();
  TRY_ASSIGN(const std::optional<int> port, MasterPort(*snapshot));
  const base::Defer let_go([&] { LetGoIfGone(key, *snapshot->job); });
  TRY_ASSIGN(const std::optional<text::Json> autoscaler, FindAutoscaler(*snapshot->job));
  TRY_ASSIGN(std::vector<reconcile::Awaited> awaited, FindAwaited(key, *snapshot->job));
  const auto thinking = clock_.Steady();
  reconcile::Plan plan = MakePlan(*snapshot, port, autoscaler, std::move(awaited));
  const auto thought = std::chrono::duration_cast<base::Duration>(clock_.Steady() - thinking);
  if (thought > kLongThought && !plan.has_more) {
    rest = std::min<base::Duration>(thought * kRestFactor, kLongestPassRest);
  }
  const auto makes = [&plan](const api::Resource& resource) {
    return std::any_of(plan.writes.begin(), plan.writes.end(), [&](const reconcile::Write& write) {
      return write.resource == &resource && write.verb == reconcile::Write::Verb::kCreate;
    });
  };
  const bool makes_pods = makes(api::kPods);
  if (makes_pods || makes(api::kServices)) TRY(CheckIsThere(*snapshot));
  const bool status_waits = makes_pods && MayStatusWait(*snapshot);
  const base::Status applied = ApplyPlan(*snapshot, plan, port, status_waits);
  if (plan.look_again) queue_.AddAfter(key, *plan.look_again - clock_.Now());
  TRY(applied);
  const bool has_ended =
      std::any_of(plan.counters.begin(), plan.counters.end(), [](const reconcile::Counter counter) {
        return counter == reconcile::Counter::kSucceeded || counter == reconcile::Counter::kFailed;
      });
  if (has_ended || plan.is_settled) WakeWaiting(key);
  if (options_.metrics != nullptr && makes_pods && !plan.has_more) {
    options_.metrics->job_ready.Observe(
        waited + std::chrono::duration_cast<base::Duration>(clock_.Steady() - begin));
  }
  has_more = plan.has_more;
  if (status_waits) queue_.Add(key);
  if (plan.is_settled) {
    const std::string uid(api::Uid(*snapshot->job));
    if (options_.release_master_port) options_.release_master_port(uid);
    announced_.Lock()->erase(uid);
    cache_.Settle(key, *snapshot->job);
  }
  return {};
}

// The first status of a job whose pods have just been created is left to the next reconciliation,
// behind the jobs that wait for their pods: when a thousand jobs come at once, the last one's pods
// are created a quarter sooner.
bool JobWorker::MayStatusWait(const JobCache::Snapshot& snapshot) const {
  return options_.is_operator && snapshot.pods.empty() && queue_.Depth() > 0 &&
         text::FindArray(*snapshot.job, {"status", "conditions"}) == nullptr;
}

// Whether only the counts of active pods differ and are still changing: each write of a status
// costs the API server and everybody who watches the job.
bool JobWorker::MayCountsWait(const text::Json& job, const text::Json& status) {
  if (!options_.is_operator) return false;
  const auto without_active = [](text::Json of) {
    text::Json* const replicas = text::Find(of, {"replicaStatuses"});
    if (replicas == nullptr || !replicas->is_object()) return of;
    for (auto& [type, replica] : replicas->get_object()) {
      if (replica.is_object()) replica.get_object().erase("active");
    }
    return of;
  };
  const std::string key = JobKey(job);
  const text::Json* const stored = text::Find(job, {"status"});
  const bool says_more = stored == nullptr || without_active(*stored) != without_active(status);
  const auto now = clock_.Steady();
  auto waits = counts_wait_.Lock();
  const auto since = waits->try_emplace(key, now).first;
  const auto left = since->second + kCountsRest - now;
  if (says_more || left <= left.zero()) {
    waits->erase(since);
    return false;
  }
  queue_.AddAfter(key, std::chrono::ceil<base::Duration>(left));
  return true;
}

void JobWorker::CountPlan(const JobCache::Snapshot& snapshot, const reconcile::Plan& plan) {
  if (options_.metrics == nullptr) return;
  const std::string namespace_name(text::GetString(*snapshot.job, {"metadata", "namespace"}));
  for (const reconcile::Counter counter : plan.counters) {
    options_.metrics->Count(counter, namespace_name);
  }
}

reconcile::Plan JobWorker::MakePlan(const JobCache::Snapshot& snapshot,
                                    std::optional<int> master_port,
                                    const std::optional<text::Json>& autoscaler,
                                    std::vector<reconcile::Awaited> awaited) {
  reconcile::Observed observed;
  observed.awaited = std::move(awaited);
  observed.job = snapshot.job.get();
  for (const ObjectPtr& pod : snapshot.pods) observed.pods.push_back(pod.get());
  for (const ObjectPtr& service : snapshot.services) observed.services.push_back(service.get());
  const std::string_view name = text::GetString(*snapshot.job, {"metadata", "name"});
  for (const ObjectPtr& group : snapshot.pod_groups) {
    if (text::GetString(*group, {"metadata", "name"}) == name) observed.pod_group = group.get();
  }
  if (autoscaler) observed.autoscaler = &*autoscaler;
  if (!options_.reconcile.gang_scheduler_name.empty()) {
    observed.priority_values = *priorities_.Lock();
  }
  observed.master_port = master_port;
  std::set<size_t> announced;
  {
    auto by_job = announced_.Lock();
    const auto found = by_job->find(std::string(api::Uid(*snapshot.job)));
    if (found != by_job->end()) {
      announced = found->second;
      observed.announced = &announced;
    }
  }
  // The plans of the other workers are in memory at the same time.
  if (options_.is_operator && queue_.Depth() > 0) observed.max_creations = kCreationsBesideOthers;
  if (options_.needs_nodes && reconcile::NodePatience(*snapshot.job)) {
    options_.needs_nodes();
    observed.lost_nodes = *lost_nodes_.Lock();
  }
  return reconcile::Reconcile(observed, options_.reconcile, clock_.Now());
}

base::Result<std::optional<int>> JobWorker::MasterPort(const JobCache::Snapshot& snapshot) {
  if (!options_.assign_master_port) return std::optional<int>();
  TRY_ASSIGN(const int port,
             options_.assign_master_port(std::string(api::Uid(*snapshot.job)), PortOfPods(snapshot),
                                         DeclaredPortOfRank0(*snapshot.job)));
  return std::optional<int>(port);
}

void JobWorker::KeepPorts() {
  if (!options_.assign_master_port) return;
  for (const std::string& key : cache_.KeysOfUnfinished()) {
    const auto snapshot = cache_.Get(key);
    if (!snapshot || !PortOfPods(*snapshot)) continue;
    // The job's reconciliation tells what is wrong with it.
    (void)MasterPort(*snapshot);
    LetGoIfGone(key, *snapshot->job);
  }
}

}  // namespace controller
