// The part of JobWorker that asks the API server for objects that are not watched.
#include <fmt/format.h>

#include <utility>

#include "api/job/pytorch_job.h"
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

}  // namespace controller
