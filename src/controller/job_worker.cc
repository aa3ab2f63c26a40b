#include "controller/job_worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "api/names.h"
#include "api/object.h"
#include "api/resources.h"
#include "base/log.h"
#include "base/strings.h"
#include "reconcile/node_loss.h"
#include "text/projection.h"

namespace controller {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr base::Duration kFirstBackoff = milliseconds(5);
constexpr base::Duration kMaxBackoff = seconds(60);
// A pass that takes so long to think is of a large job: it rests a multiple of that time before the
// next, in which news gather.
constexpr base::Duration kLongThought = milliseconds(10);
constexpr int kRestFactor = 3;
// Creations of one type in a plan while other jobs wait, so that a dozen plans are a few MiB; so
// many plans follow one another before the job is queued behind the others.
constexpr int kCreationsBesideOthers = 32;
constexpr int kPlansInARow = 8;
constexpr base::Duration kLongestPassRest = seconds(1);
constexpr int64_t kAutoscalersAPage = 500;

int32_t PriorityValue(const text::Json& priority_class) {
  return static_cast<int32_t>(text::GetInt(priority_class, {"value"}).value_or(0));
}

std::string ClassName(const text::Json& priority_class) {
  return std::string(text::GetString(priority_class, {"metadata", "name"}));
}

// Since when a node has not been heard of: its kubelet renews what Kubernetes calls Unknown then.
std::optional<base::Time> LostSince(const text::Json& node) {
  const text::Array* const conditions = text::FindArray(node, {"status", "conditions"});
  if (conditions == nullptr) return std::nullopt;
  for (const text::Json& condition : *conditions) {
    if (text::GetString(condition, {"type"}) != "Ready") continue;
    if (text::GetString(condition, {"status"}) != "Unknown") return std::nullopt;
    return api::GetTime(condition, {"lastTransitionTime"});
  }
  return std::nullopt;
}

std::string UidOf(const text::Json& job) {
  return std::string(text::GetString(job, {"metadata", "uid"}));
}

}  // namespace

JobWorker::JobWorker(cluster::Client& client, base::Clock& clock, const Options& options,
                     EventSink events)
    : client_(client),
      clock_(clock),
      options_(options),
      events_(std::move(events)),
      queue_(clock, kFirstBackoff, kMaxBackoff) {}

void JobWorker::Enqueue(const std::string& key) {
  if (!key.empty()) queue_.Add(key);
}

void JobWorker::ReplaceJobs(std::vector<text::Json> jobs) {
  for (const std::string& key : cache_.ReplaceJobs(std::move(jobs))) Enqueue(key);
}

void JobWorker::TakeJob(cluster::WatchEvent event) {
  if (event.type != cluster::WatchEvent::Type::kDeleted) {
    Enqueue(cache_.PutJob(std::move(event.object)));
    return;
  }
  const std::string uid = UidOf(event.object);
  if (options_.release_master_port) options_.release_master_port(uid);
  if (options_.job_deleted) options_.job_deleted(uid);
  autoscaled_.Lock()->erase(uid);
  Enqueue(cache_.RemoveJob(event.object));
}

void JobWorker::ReplaceChildren(ChildKind kind, std::vector<text::Json> children) {
  for (const std::string& key : cache_.ReplaceChildren(kind, std::move(children))) Enqueue(key);
}

void JobWorker::TakeChild(ChildKind kind, cluster::WatchEvent event) {
  Enqueue(event.type == cluster::WatchEvent::Type::kDeleted
              ? cache_.RemoveChild(kind, event.object)
              : cache_.PutChild(kind, std::move(event.object)));
}

void JobWorker::ReplacePriorities(const std::vector<text::Json>& classes) {
  auto priorities = priorities_.Lock();
  priorities->clear();
  for (const text::Json& one : classes) (*priorities)[ClassName(one)] = PriorityValue(one);
}

void JobWorker::TakePriority(const cluster::WatchEvent& event) {
  auto priorities = priorities_.Lock();
  if (event.type == cluster::WatchEvent::Type::kDeleted) {
    priorities->erase(ClassName(event.object));
  } else {
    (*priorities)[ClassName(event.object)] = PriorityValue(event.object);
  }
}

void JobWorker::SetLost(const std::string& node, std::optional<base::Time> since) {
  {
    auto lost = lost_nodes_.Lock();
    const auto known = lost->find(node);
    if (known != lost->end() ? since == known->second : !since) return;
    if (since) {
      (*lost)[node] = *since;
    } else {
      lost->erase(known);
    }
  }
  for (const std::string& key : cache_.KeysOnNode(node)) Enqueue(key);
}

void JobWorker::ReplaceNodes(const std::vector<text::Json>& nodes) {
  std::map<std::string, base::Time> gone = *lost_nodes_.Lock();
  for (const text::Json& node : nodes) {
    const std::string name(api::Name(node));
    gone.erase(name);
    SetLost(name, LostSince(node));
  }
  for (const auto& [name, since] : gone) SetLost(name, std::nullopt);
}

void JobWorker::TakeNode(const cluster::WatchEvent& event) {
  const bool is_deleted = event.type == cluster::WatchEvent::Type::kDeleted;
  // Kubernetes itself removes the pods of a node that is no more.
  SetLost(std::string(api::Name(event.object)),
          is_deleted ? std::nullopt : LostSince(event.object));
}

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
    // A conflict is news on its way, and said once is enough of the rest.
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
  const auto snapshot = cache_.Get(key);
  if (!snapshot) {
    queue_.Drop(key);
    return {};
  }
  const auto begin = clock_.Steady();
  TRY_ASSIGN(const std::optional<int> port, MasterPort(*snapshot));
  TRY_ASSIGN(const std::optional<text::Json> autoscaler, FindAutoscaler(*snapshot->job));
  const auto thinking = clock_.Steady();
  reconcile::Plan plan = MakePlan(*snapshot, port, autoscaler);
  const auto thought = std::chrono::duration_cast<base::Duration>(clock_.Steady() - thinking);
  if (thought > kLongThought && !plan.has_more) {
    rest = std::min<base::Duration>(thought * kRestFactor, kLongestPassRest);
  }
  const bool makes_pods =
      std::any_of(plan.writes.begin(), plan.writes.end(), [](const reconcile::Write& write) {
        return write.resource == &api::kPods && write.verb == reconcile::Write::Verb::kCreate;
      });
  const bool status_waits = makes_pods && MayStatusWait(*snapshot);
  if (status_waits) {
    plan.status.reset();
    plan.counters.clear();
  }
  TRY(CarryOut(*snapshot, plan, port));
  CountPlan(*snapshot, plan);
  if (options_.metrics != nullptr && makes_pods && !plan.has_more) {
    options_.metrics->job_ready.Observe(
        waited + std::chrono::duration_cast<base::Duration>(clock_.Steady() - begin));
  }
  has_more = plan.has_more;
  if (status_waits) queue_.Add(key);
  if (plan.look_again) queue_.AddAfter(key, *plan.look_again - clock_.Now());
  if (plan.is_settled) {
    const std::string uid(text::GetString(*snapshot->job, {"metadata", "uid"}));
    if (options_.release_master_port) options_.release_master_port(uid);
    cache_.Settle(key, *snapshot->job);
  }
  return {};
}

// The first status of a job whose pods have just been made is the next pass's, behind the jobs that
// wait for theirs: of a thousand jobs that come at once the last one's pods are made a quarter
// sooner.
bool JobWorker::MayStatusWait(const JobCache::Snapshot& snapshot) const {
  return options_.is_operator && snapshot.pods.empty() && queue_.Depth() > 0 &&
         text::FindArray(*snapshot.job, {"status", "conditions"}) == nullptr;
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
                                    const std::optional<text::Json>& autoscaler) {
  reconcile::Observed observed;
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
  // The others' plans lie in memory beside this.
  if (options_.is_operator && queue_.Depth() > 0) observed.most_creations = kCreationsBesideOthers;
  if (options_.needs_nodes && reconcile::NodePatience(*snapshot.job)) {
    options_.needs_nodes();
    observed.lost_nodes = *lost_nodes_.Lock();
  }
  return reconcile::Reconcile(observed, options_.reconcile, clock_.Now());
}

base::Result<std::optional<int>> JobWorker::MasterPort(const JobCache::Snapshot& snapshot) {
  if (!options_.assign_master_port) return std::optional<int>();
  std::optional<int> existing;
  for (const ObjectPtr& pod : snapshot.pods) {
    const auto port = base::ParseInt(
        text::GetString(*pod, {"metadata", "annotations", api::kMasterPortAnnotation}));
    if (port) existing = static_cast<int>(*port);
  }
  TRY_ASSIGN(const int port,
             options_.assign_master_port(
                 std::string(text::GetString(*snapshot.job, {"metadata", "uid"})), existing));
  return std::optional<int>(port);
}

void JobWorker::LearnAutoscalers() {
  static const text::Projection kParts{{"metadata", "ownerReferences"}};
  cluster::ListOptions list;
  list.namespace_name = options_.namespace_name;
  list.limit = kAutoscalersAPage;
  list.read_listed = [this](std::string_view text) -> base::Result<text::Json> {
    TRY_ASSIGN(const text::Json autoscaler, text::ParsePart(text, kParts));
    const text::Json* const owner = api::ControllerReference(autoscaler);
    if (owner != nullptr && text::GetString(*owner, {"kind"}) == api::kPyTorchJobs.kind) {
      autoscaled_.Lock()->emplace(text::GetString(*owner, {"uid"}));
    }
    return text::Json();
  };
  const auto listed = client_.List(api::kHorizontalPodAutoscalers, list);
  if (listed) return;
  base::Log(options_.is_operator ? base::LogLevel::kWarn : base::LogLevel::kDebug,
            fmt::format("list {}: {}; one that its job did away with before this start stays",
                        api::kHorizontalPodAutoscalers.plural, listed.error().message));
}

// An autoscaler has no label to watch it by (spec/pytorchjob-operator.md 2.6), and few jobs have
// one: it is asked for.
base::Result<std::optional<text::Json>> JobWorker::FindAutoscaler(const text::Json& job) {
  const std::string uid = UidOf(job);
  const bool has_metrics = text::Find(job, {"spec", "elasticPolicy", "metrics"}) != nullptr;
  if (!has_metrics && !autoscaled_.Lock()->contains(uid)) return std::optional<text::Json>();
  auto found =
      client_.Get(api::kHorizontalPodAutoscalers, text::GetString(job, {"metadata", "namespace"}),
                  text::GetString(job, {"metadata", "name"}));
  if (found) {
    autoscaled_.Lock()->insert(uid);
    return std::optional<text::Json>(std::move(*found));
  }
  if (found.error().code != base::Code::kNotFound) return base::Fail(found.error());
  autoscaled_.Lock()->erase(uid);
  return std::optional<text::Json>();
}

}  // namespace controller
