// The part of JobWorker that asks the API server for objects that are not watched.
#include <fmt/format.h>

#include <utility>

#include "api/job/pytorch_job.h"
#include "api/job/training_summary.h"
#include "api/job/wait_for.h"
#include "api/names.h"
#include "api/object.h"
#include "api/resources.h"
#include "base/log.h"
#include "controller/loop/job_worker.h"
#include "controller/loop/projection.h"
#include "text/projection.h"

namespace controller {
namespace {

constexpr int64_t kAutoscalersAPage = 500;

void (*ProjectionOf(ChildKind kind))(text::Json&) {
  switch (kind) {
    case ChildKind::kPod:
      return ProjectPod;
    case ChildKind::kService:
      return ProjectService;
    case ChildKind::kPodGroup:
      break;
  }
  return ProjectPodGroup;
}

bool HasCleanUp(const text::Json& job) {
  const auto parsed = api::ParsePyTorchJob(job);
  if (!parsed || !parsed->status.IsFinished()) return false;
  const api::CleanPodPolicy policy = parsed->run_policy.Clean();
  return policy == api::CleanPodPolicy::kAll || policy == api::CleanPodPolicy::kRunning;
}

reconcile::Awaited OutcomeOf(const text::Json& job, base::Time now) {
  using Outcome = reconcile::Awaited::Outcome;
  const api::TrainingSummary summary = api::Summarize(job, {}, now);
  const Outcome outcome = summary.status == "SUCCEEDED" ? Outcome::kSucceeded
                          : summary.status == "FAILED"  ? Outcome::kFailed
                                                        : Outcome::kOpen;
  return {summary.name, outcome, outcome == Outcome::kFailed ? summary.reason : ""};
}

}  // namespace

cluster::ListOptions ListOfChildren(ChildKind kind) {
  cluster::ListOptions list;
  // PodGroups have no labels (compat/pytorchjob.md 2.11).
  if (kind != ChildKind::kPodGroup) {
    list.label_selector = fmt::format("{}={}", api::kOperatorNameLabel, api::kControllerName);
  }
  list.trim = ProjectionOf(kind);
  if (kind == ChildKind::kPod) list.read = ReadPod;
  if (kind == ChildKind::kService) list.read = ReadService;
  return list;
}

base::Status JobWorker::CheckIsThere(const JobCache::Snapshot& snapshot) {
  const text::Json& job = *snapshot.job;
  if (text::Find(job, {"status"}) == nullptr && !snapshot.has_lost_children) return {};
  const auto now = client_.Get(api::kPyTorchJobs, text::GetString(job, {"metadata", "namespace"}),
                               api::Name(job));
  const bool may_have_children = now ? api::Uid(*now) == api::Uid(job) && !api::IsDeleting(*now)
                                     : now.error().code != base::Code::kNotFound;
  if (may_have_children) return {};
  return base::Fail(base::Code::kConflict,
                    "the job is gone, or being deleted: nothing is made for it any more");
}

// Clean-up follows the policy that a finished job has now, even if it was changed after the end.
base::Result<std::optional<JobCache::Snapshot>> JobWorker::LookUp(const std::string& key) {
  auto snapshot = cache_.Get(key);
  if (!snapshot || !snapshot->has_forgotten || !HasCleanUp(*snapshot->job)) return snapshot;
  TRY(RecallChildren(key, *snapshot->job));
  return cache_.Get(key);
}

base::Status JobWorker::RecallChildren(const std::string& key, const text::Json& job) {
  for (const ChildKind kind : {ChildKind::kPod, ChildKind::kService}) {
    cluster::ListOptions list = ListOfChildren(kind);
    list.namespace_name = text::GetString(job, {"metadata", "namespace"});
    list.label_selector += fmt::format(",{}={}", api::kJobNameLabel, api::Name(job));
    TRY_ASSIGN(cluster::ObjectList children,
               client_.List(kind == ChildKind::kPod ? api::kPods : api::kServices, list));
    for (text::Json& child : children.items) cache_.PutChild(kind, std::move(child));
  }
  cache_.Recall(key);
  return {};
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
            fmt::format("list {}: {}; one that its job no longer wants may stay",
                        api::kHorizontalPodAutoscalers.plural, listed.error().message));
}

// An autoscaler has no label to watch it by (compat/pytorchjob.md 2.6), and few jobs have one, so
// it is read.
base::Result<std::optional<text::Json>> JobWorker::FindAutoscaler(const text::Json& job) {
  const std::string uid(api::Uid(job));
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

base::Result<std::vector<reconcile::Awaited>> JobWorker::FindAwaited(const std::string& key,
                                                                     const text::Json& job) {
  std::vector<reconcile::Awaited> awaited;
  const std::string namespace_name(text::GetString(job, {"metadata", "namespace"}));
  for (const api::AwaitedJob& one : api::AwaitedBy(job)) {
    // Before the job is read, so that any later change wakes this job.
    (*waiting_.Lock())[namespace_name + "/" + one.name].insert(key);
    auto found = client_.Get(api::kPyTorchJobs, namespace_name, one.name);
    if (!found && found.error().code != base::Code::kNotFound) return base::Fail(found.error());
    if (!found || api::Uid(*found) != one.uid) found = Remembered(one.uid);
    if (!found && found.error().code != base::Code::kNotFound) return base::Fail(found.error());
    awaited.push_back({one.name, reconcile::Awaited::Outcome::kGone, ""});
    if (!found) continue;
    awaited.back() = OutcomeOf(*found, clock_.Now());
  }
  return awaited;
}

base::Result<text::Json> JobWorker::Remembered(const std::string& uid) {
  const base::Error gone{base::Code::kNotFound, "the job is gone", 0};
  if (options_.is_operator) return base::Fail(gone);
  TRY_ASSIGN(text::Json answer,
             client_.Ask("GET", fmt::format("/muster/records?id={}&limit=1", uid)));
  text::Json* const items = text::Find(answer, {"items"});
  if (items == nullptr || !items->is_array() || items->get_array().empty()) return base::Fail(gone);
  text::Json* const object = text::Find(items->get_array()[0], {"object"});
  const auto status = object == nullptr ? nullptr : text::Find(*object, {"status"});
  const auto parsed = status == nullptr ? base::Fail(gone) : api::ParseJobStatus(*status);
  // It had not ended when it was deleted.
  if (!parsed || !parsed->IsFinished()) return base::Fail(gone);
  return std::move(*object);
}

void JobWorker::WakeWaiting(const std::string& key) {
  std::set<std::string> keys;
  {
    auto waiting = waiting_.Lock();
    const auto found = waiting->find(key);
    if (found == waiting->end()) return;
    keys = std::move(found->second);
    waiting->erase(found);
  }
  for (const std::string& one : keys) Enqueue(one);
}

}  // namespace controller
