// The half of JobWorker that writes the objects and the status of a plan.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/job/failure_cause.h"
#include "api/job/training_summary.h"
#include "api/names.h"
#include "api/object.h"
#include "api/resources.h"
#include "base/log.h"
#include "controller/loop/event_aggregation.h"
#include "controller/loop/job_worker.h"
#include "controller/loop/projection.h"
#include "text/patch.h"

namespace controller {
namespace {

using Verb = reconcile::Write::Verb;

// The most writes sent at once: their answers, which are whole objects, are in memory together.
constexpr size_t kWritesAtOnce = 64;
// Of one job; when there are more, old ones may be announced once again.
constexpr size_t kMaxTroublesRemembered = 4096;

bool IsPodGroup(const api::Resource& resource) {
  return &resource == &api::kVolcanoPodGroups || &resource == &api::kSchedulerPluginsPodGroups;
}

std::optional<ChildKind> KindOf(const api::Resource& resource) {
  if (&resource == &api::kPods) return ChildKind::kPod;
  if (&resource == &api::kServices) return ChildKind::kService;
  if (IsPodGroup(resource)) return ChildKind::kPodGroup;
  return std::nullopt;
}

void Project(ChildKind kind, text::Json& object) {
  switch (kind) {
    case ChildKind::kPod:
      return ProjectPod(object);
    case ChildKind::kService:
      return ProjectService(object);
    case ChildKind::kPodGroup:
      return ProjectPodGroup(object);
  }
}

cluster::BatchWrite ToBatchWrite(reconcile::Write& write, const std::string& namespace_name) {
  cluster::BatchWrite batch;
  batch.resource = write.resource;
  batch.namespace_name = namespace_name;
  batch.name = write.name;
  batch.object = std::move(write.object);
  if (write.resource == &api::kPods) batch.read = ReadPod;
  if (write.resource == &api::kServices) batch.read = ReadService;
  switch (write.verb) {
    case Verb::kCreate:
      batch.verb = cluster::BatchWrite::Verb::kCreate;
      break;
    case Verb::kUpdate:
      batch.verb = cluster::BatchWrite::Verb::kUpdate;
      break;
    case Verb::kPatch:
      batch.verb = cluster::BatchWrite::Verb::kPatch;
      break;
    case Verb::kDelete:
      batch.verb = cluster::BatchWrite::Verb::kDelete;
      batch.delete_options.uid = write.uid;
      if (write.is_forced) batch.delete_options.grace_period_seconds = 0;
      break;
  }
  return batch;
}

// Whether another attempt will fail too.
bool IsRefusal(const base::Error& error) {
  return error.code == base::Code::kPermissionDenied ||
         error.code == base::Code::kInvalidArgument || error.code == base::Code::kInternal;
}

// The answer to our own write is news too: applying it at once replaces the expectations of the
// original (2.9).
void ApplyAnswer(JobCache& cache, const reconcile::Write& write, text::Json answer) {
  const auto kind = KindOf(*write.resource);
  if (!kind || !answer.is_object()) return;
  // A deletion is answered with the object while it lingers, otherwise with a Status.
  const bool is_deletion = write.verb == Verb::kDelete;
  if (is_deletion && (text::GetString(answer, {"kind"}) != write.resource->kind ||
                      text::Find(answer, {"metadata", "deletionTimestamp"}) == nullptr)) {
    return;
  }
  Project(*kind, answer);
  cache.PutChild(*kind, std::move(answer));
}

}  // namespace

base::Status JobWorker::ApplyPlan(const JobCache::Snapshot& snapshot, reconcile::Plan& plan,
                                  std::optional<int> master_port, bool may_status_wait) {
  std::vector<reconcile::Event> events;
  std::string refusal;
  const base::Status written = WriteChildren(snapshot, plan, master_port, events, refusal);
  RecordEvents(*snapshot.job, std::move(events));
  if (!written && written.error().code == base::Code::kCancelled) return written;
  if (written && may_status_wait) {
    plan.status.reset();
    plan.counters.clear();
  } else {
    // A job gets a status, a deadline and a reason even if a write was refused.
    RecordRefusal(*snapshot.job, refusal, plan);
  }
  if (plan.status && MayCountsWait(*snapshot.job, *plan.status)) plan.status.reset();
  if (plan.status) {
    TRY(WriteStatus(*snapshot.job, *plan.status, written.has_value()));
    if (!options_.is_operator) TRY(RecordFailure(snapshot, *plan.status));
  }
  if (written || plan.status) CountPlan(snapshot, plan);
  RecordEvents(*snapshot.job, std::move(plan.events));
  RememberTroubles(std::string(api::Uid(*snapshot.job)), plan.troubles);
  return written;
}

void JobWorker::RememberTroubles(const std::string& job_uid, const std::set<size_t>& troubles) {
  if (troubles.empty()) return;
  auto by_job = announced_.Lock();
  std::set<size_t>& announced = (*by_job)[job_uid];
  if (announced.size() + troubles.size() > kMaxTroublesRemembered) announced.clear();
  announced.insert(troubles.begin(), troubles.end());
}

void JobWorker::RecordRefusal(const text::Json& job, const std::string& refusal,
                              reconcile::Plan& plan) const {
  const text::Json* const stored = text::Find(job, {"status"});
  if (!plan.status && stored == nullptr) return;
  text::Json status = plan.status ? *plan.status : *stored;
  text::Json* const conditions = text::Find(status, {"conditions"});
  if (conditions == nullptr || !conditions->is_array()) return;
  for (text::Json& condition : conditions->get_array()) {
    if (text::GetString(condition, {"type"}) != "Created") continue;
    const std::string before(text::GetString(condition, {"message"}));
    std::string message = before.substr(0, before.find(api::kRefusedMark));
    if (!refusal.empty()) message.append(api::kRefusedMark).append(refusal);
    if (message == before) return;
    text::Set(condition, {"message"}, text::Json(message));
    text::Set(condition, {"lastUpdateTime"}, text::Json(base::FormatRfc3339(clock_.Now())));
    plan.status = std::move(status);
    return;
  }
}

base::Status JobWorker::WriteChildren(const JobCache::Snapshot& snapshot, reconcile::Plan& plan,
                                      std::optional<int> master_port,
                                      std::vector<reconcile::Event>& events, std::string& refusal) {
  const std::string namespace_name(text::GetString(*snapshot.job, {"metadata", "namespace"}));
  base::Status failure;
  // The embedded store commits a whole batch at once.
  const size_t at_once = options_.is_operator ? kWritesAtOnce : plan.writes.size();
  for (size_t begin = 0; begin < plan.writes.size(); begin += at_once) {
    const size_t end = std::min(begin + at_once, plan.writes.size());
    std::vector<cluster::BatchWrite> batch;
    for (size_t i = begin; i < end; ++i) {
      reconcile::Write& write = plan.writes[i];
      if (master_port && write.resource == &api::kPods && write.verb == Verb::kCreate) {
        text::Set(write.object, {"metadata", "annotations", api::kMasterPortAnnotation},
                  text::Json(std::to_string(*master_port)));
      }
      batch.push_back(ToBatchWrite(write, namespace_name));
    }
    auto answers = client_.Batch(batch);
    for (size_t i = begin; i < end; ++i) {
      const reconcile::Write& write = plan.writes[i];
      const base::Status taken = TakeAnswer(snapshot, write, std::move(answers[i - begin]), events);
      if (taken) continue;
      if (refusal.empty() && write.verb == Verb::kCreate && IsRefusal(taken.error())) {
        refusal = fmt::format("{} {}", write.resource->singular, taken.error().message);
      }
      if (failure) failure = taken;
    }
  }
  return failure;
}

base::Status JobWorker::TakeAnswer(const JobCache::Snapshot& snapshot,
                                   const reconcile::Write& write, base::Result<text::Json> answer,
                                   std::vector<reconcile::Event>& events) {
  if (answer) {
    ApplyAnswer(cache_, write, std::move(*answer));
    if (write.resource == &api::kHorizontalPodAutoscalers && write.verb == Verb::kCreate) {
      // Looked up from now on, even if the job's metrics are removed before the next
      // reconciliation.
      autoscaled_.Lock()->emplace(text::GetString(*snapshot.job, {"metadata", "uid"}));
    }
    CountWrite(write, true);
    if (write.on_success) events.push_back(*write.on_success);
    return {};
  }
  const base::Error& error = answer.error();
  const bool is_to_end = write.verb == Verb::kDelete || write.resource == &api::kPods;
  const bool is_gone = error.code == base::Code::kNotFound;
  if (is_to_end && write.verb != Verb::kCreate && is_gone) return {};
  bool is_going = false;
  if (write.verb == Verb::kCreate && error.code == base::Code::kAlreadyExists &&
      Adopt(snapshot, write, is_going)) {
    return {};
  }
  CountWrite(write, false);
  if (write.on_failure && !is_going && error.code != base::Code::kCancelled) {
    reconcile::Event event = *write.on_failure;
    event.message += error.message;
    events.push_back(std::move(event));
  }
  return base::Fail(error.Wrap(write.name));
}

bool JobWorker::Adopt(const JobCache::Snapshot& snapshot, const reconcile::Write& write,
                      bool& is_going) {
  const auto kind = KindOf(*write.resource);
  if (!kind) return false;
  auto existing = client_.Get(
      *write.resource, text::GetString(*snapshot.job, {"metadata", "namespace"}), write.name);
  // Deleted meanwhile: the next reconciliation creates it.
  is_going = !existing && existing.error().code == base::Code::kNotFound;
  if (!existing) return false;
  // It belongs to a deleted job of the same name: the garbage collector is about to delete it.
  const text::Json* const owner = api::ControllerReference(*existing);
  is_going = api::IsDeleting(*existing) ||
             (owner != nullptr && text::GetString(*owner, {"kind"}) == api::kPyTorchJobs.kind);
  if (api::ControllerUid(*existing) != text::GetString(*snapshot.job, {"metadata", "uid"})) {
    return false;
  }
  Project(*kind, *existing);
  Enqueue(cache_.PutChild(*kind, std::move(*existing)));
  return true;
}

void JobWorker::CountWrite(const reconcile::Write& write, bool is_success) {
  if (options_.metrics == nullptr) return;
  Metrics& metrics = *options_.metrics;
  const bool is_creation = write.verb == Verb::kCreate;
  const bool is_deletion = write.verb == Verb::kDelete;
  if (write.resource == &api::kServices && is_creation) {
    ++(is_success ? metrics.created_services : metrics.failed_services);
  }
  if (!is_success) return;
  if (write.resource == &api::kPods && is_creation) ++metrics.created_pods;
  if (write.resource == &api::kPods && is_deletion) ++metrics.deleted_pods;
  if (IsPodGroup(*write.resource) && is_creation) ++metrics.created_pod_groups;
  if (IsPodGroup(*write.resource) && is_deletion) ++metrics.deleted_pod_groups;
}

void JobWorker::RecordEvents(const text::Json& job, std::vector<reconcile::Event> events) {
  if (options_.is_operator) {
    // While other jobs wait for their pods, requests are scarce.
    const size_t most_apart = queue_.Depth() > 0 ? 1 : kMostEventsApart;
    events = AggregateEvents(std::move(events), most_apart);
  }
  for (const reconcile::Event& event : events) events_(job, event);
}

base::Status JobWorker::RecordFailure(const JobCache::Snapshot& snapshot,
                                      const text::Json& status) {
  text::Json job = *snapshot.job;
  if (text::Find(job, {"metadata", "annotations", api::kFailureAnnotation}) != nullptr) return {};
  text::Set(job, {"status"}, status);
  std::vector<const text::Json*> pods;
  for (const ObjectPtr& pod : snapshot.pods) pods.push_back(pod.get());
  const api::TrainingSummary summary = api::Summarize(job, pods, clock_.Now());
  if (summary.status != "FAILED" || summary.reason.empty()) return {};
  text::Json patch = text::Object();
  text::Set(patch, {"metadata", "annotations", api::kFailureAnnotation},
            text::Json(summary.reason));
  auto patched = client_.Patch(api::kPyTorchJobs, summary.namespace_name, summary.name,
                               cluster::PatchType::kMerge, patch);
  if (!patched) return base::Fail(patched.error());
  ProjectJob(*patched);
  Enqueue(cache_.PutAnswer(std::move(*patched)));
  return {};
}

base::Status JobWorker::WriteStatus(const text::Json& job, const text::Json& status, bool is_news) {
  const text::Json* const stored = text::Find(job, {"status"});
  const text::Json none = text::Object();
  // The patch applies only to the version, and to the job, from which the status was computed.
  const text::Json patch = text::Object{
      {"metadata",
       text::Object{{"uid", text::GetString(job, {"metadata", "uid"})},
                    {"resourceVersion", text::GetString(job, {"metadata", "resourceVersion"})}}},
      {"status", text::MakeMergePatch(stored != nullptr ? *stored : none, status)}};
  const std::string_view namespace_name = text::GetString(job, {"metadata", "namespace"});
  const std::string_view name = text::GetString(job, {"metadata", "name"});
  TRY_ASSIGN(text::Json written, client_.Patch(api::kPyTorchJobs, namespace_name, name,
                                               cluster::PatchType::kMerge, patch, "status"));
  if (options_.is_operator) LogConditions(job, status);
  if (options_.metrics != nullptr) ++options_.metrics->status_writes;
  ProjectJob(written);
  // The watch will report this version as known, so the reconciliation that it calls for is
  // requested here.
  const std::string key = cache_.PutAnswer(std::move(written));
  if (is_news) Enqueue(key);
  return {};
}

void JobWorker::LogConditions(const text::Json& job, const text::Json& status) const {
  const text::Array& before = text::Items(job, {"status", "conditions"});
  for (const text::Json& condition : text::Items(status, {"conditions"})) {
    const auto is_same = [&condition](const text::Json& old) {
      return text::GetString(old, {"type"}) == text::GetString(condition, {"type"}) &&
             text::GetString(old, {"reason"}) == text::GetString(condition, {"reason"});
    };
    if (std::ranges::any_of(before, is_same)) continue;
    // Output of the training program is kept out of the log.
    const std::string_view message = text::GetString(condition, {"message"});
    base::Log(base::LogLevel::kInfo, message.substr(0, message.find(api::kLastLinesMark)),
              {{"job", JobKey(job)},
               {"uid", text::GetString(job, {"metadata", "uid"})},
               {"reason", text::GetString(condition, {"reason"})}});
  }
}

}  // namespace controller
