#include "controller/controller.h"

#include <fmt/format.h>

#include <chrono>

#include "api/names.h"
#include "api/pod.h"
#include "api/resources.h"
#include "api/training_summary.h"
#include "base/log.h"
#include "base/strings.h"

namespace controller {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr base::Duration kFirstBackoff = milliseconds(5);
constexpr base::Duration kMaxBackoff = seconds(60);

ChildKind KindOf(const api::Resource& resource) {
  return resource.plural == api::kPods.plural ? ChildKind::kPod : ChildKind::kService;
}

bool IsChild(const api::Resource& resource) {
  return &resource == &api::kPods || &resource == &api::kServices;
}

cluster::BatchWrite ToBatchWrite(reconcile::Write write, const std::string& namespace_name) {
  cluster::BatchWrite batch;
  batch.resource = write.resource;
  batch.namespace_name = namespace_name;
  batch.name = write.name;
  batch.object = std::move(write.object);
  switch (write.verb) {
    case reconcile::Write::Verb::kCreate:
      batch.verb = cluster::BatchWrite::Verb::kCreate;
      break;
    case reconcile::Write::Verb::kUpdate:
      batch.verb = cluster::BatchWrite::Verb::kUpdate;
      break;
    case reconcile::Write::Verb::kDelete:
      batch.verb = cluster::BatchWrite::Verb::kDelete;
      batch.delete_options.uid = std::move(write.uid);
      break;
  }
  return batch;
}

// The answer to an own write is news too: applied at once, it stands in for the expectations of the
// original (2.9).
void ApplyAnswer(JobCache& cache, const reconcile::Write& write, text::Json answer) {
  if (!IsChild(*write.resource) || !answer.is_object()) return;
  const ChildKind kind = KindOf(*write.resource);
  if (kind == ChildKind::kPod) api::TrimPod(answer);
  if (write.verb != reconcile::Write::Verb::kDelete) {
    cache.PutChild(kind, std::move(answer));
  } else if (text::GetString(answer, {"kind"}) == write.resource->kind) {
    if (text::Find(answer, {"metadata", "deletionTimestamp"}) != nullptr) {
      cache.PutChild(kind, std::move(answer));
    }
  }
}

}  // namespace

Controller::Controller(cluster::Client& client, base::Clock& clock, Options options)
    : client_(client),
      clock_(clock),
      options_(std::move(options)),
      queue_(clock, kFirstBackoff, kMaxBackoff),
      events_(client, clock, std::string(api::kControllerName)) {
  reflectors_.push_back(ReflectJobs());
  reflectors_.push_back(ReflectChildren(ChildKind::kPod));
  reflectors_.push_back(ReflectChildren(ChildKind::kService));
  for (int i = 0; i < options_.workers; ++i) workers_.emplace_back([this] { Work(); });
}

Controller::~Controller() {
  queue_.Stop();
  reflectors_.clear();
  for (std::thread& worker : workers_) worker.join();
}

void Controller::Enqueue(const std::string& key) {
  if (!key.empty()) queue_.Add(key);
}

std::unique_ptr<cluster::Reflector> Controller::ReflectJobs() {
  cluster::ReflectorHandler handler;
  handler.replace = [this, is_first = true](std::vector<text::Json> items) mutable {
    const auto keys = cache_.ReplaceJobs(std::move(items));
    if (std::exchange(is_first, false)) --lists_missing_;
    for (const std::string& key : keys) Enqueue(key);
  };
  handler.apply = [this](cluster::WatchEvent event) {
    if (event.type != cluster::WatchEvent::Type::kDeleted) {
      Enqueue(cache_.PutJob(std::move(event.object)));
      return;
    }
    const std::string uid(text::GetString(event.object, {"metadata", "uid"}));
    if (options_.release_master_port) options_.release_master_port(uid);
    if (options_.job_deleted) options_.job_deleted(uid);
    Enqueue(cache_.RemoveJob(event.object));
  };
  cluster::ListOptions list;
  list.namespace_name = options_.namespace_name;
  return std::make_unique<cluster::Reflector>(client_, api::kPyTorchJobs, list, std::move(handler));
}

std::unique_ptr<cluster::Reflector> Controller::ReflectChildren(ChildKind kind) {
  cluster::ReflectorHandler handler;
  handler.replace = [this, kind, is_first = true](std::vector<text::Json> items) mutable {
    const auto keys = cache_.ReplaceChildren(kind, std::move(items));
    if (std::exchange(is_first, false)) --lists_missing_;
    for (const std::string& key : keys) Enqueue(key);
  };
  handler.apply = [this, kind](cluster::WatchEvent event) {
    Enqueue(event.type == cluster::WatchEvent::Type::kDeleted
                ? cache_.RemoveChild(kind, event.object)
                : cache_.PutChild(kind, std::move(event.object)));
  };
  cluster::ListOptions list;
  list.namespace_name = options_.namespace_name;
  list.label_selector = fmt::format("{}={}", api::kOperatorNameLabel, api::kControllerName);
  if (kind == ChildKind::kPod) list.trim = api::TrimPod;
  return std::make_unique<cluster::Reflector>(
      client_, kind == ChildKind::kPod ? api::kPods : api::kServices, list, std::move(handler));
}

void Controller::Work() {
  while (const auto key = queue_.Get()) {
    const base::Status status = ReconcileOne(*key);
    if (status) {
      queue_.Forget(*key);
    } else {
      base::LogDebug("reconcile {}: {}", *key, status.error().message);
      queue_.AddWithBackoff(*key);
    }
    queue_.Done(*key);
  }
}

base::Status Controller::ReconcileOne(const std::string& key) {
  if (lists_missing_ > 0) {
    return base::Fail(base::Code::kUnavailable, "the first lists are not complete yet");
  }
  const auto snapshot = cache_.Get(key);
  if (!snapshot) return {};
  TRY_ASSIGN(const std::optional<int> port, MasterPort(*snapshot));

  reconcile::Observed observed;
  observed.job = snapshot->job.get();
  for (const ObjectPtr& pod : snapshot->pods) observed.pods.push_back(pod.get());
  for (const ObjectPtr& service : snapshot->services) observed.services.push_back(service.get());
  observed.master_port = port;
  reconcile::Plan plan = reconcile::Reconcile(observed, options_.reconcile, clock_.Now());

  TRY(CarryOut(*snapshot, plan, port));
  CountUp(plan);
  for (const reconcile::Event& event : plan.events) events_.Record(*snapshot->job, event);
  if (plan.look_again) queue_.AddAfter(key, *plan.look_again - clock_.Now());
  if (plan.is_settled) {
    const std::string uid(text::GetString(*snapshot->job, {"metadata", "uid"}));
    if (options_.release_master_port) options_.release_master_port(uid);
    cache_.Settle(key, uid);
  }
  return {};
}

base::Result<std::optional<int>> Controller::MasterPort(const JobCache::Snapshot& snapshot) {
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

base::Status Controller::CarryOut(const JobCache::Snapshot& snapshot, reconcile::Plan& plan,
                                  std::optional<int> master_port) {
  const std::string namespace_name(text::GetString(*snapshot.job, {"metadata", "namespace"}));
  base::Status failure;
  if (!plan.writes.empty()) {
    std::vector<cluster::BatchWrite> batch;
    for (reconcile::Write& write : plan.writes) {
      if (master_port && write.resource == &api::kPods &&
          write.verb == reconcile::Write::Verb::kCreate) {
        text::Set(write.object, {"metadata", "annotations", api::kMasterPortAnnotation},
                  text::Json(std::to_string(*master_port)));
      }
      batch.push_back(ToBatchWrite(write, namespace_name));
    }
    auto answers = client_.Batch(batch);
    for (size_t i = 0; i < answers.size(); ++i) {
      const reconcile::Write& write = plan.writes[i];
      if (answers[i]) {
        ApplyAnswer(cache_, write, std::move(*answers[i]));
        if (write.on_success) events_.Record(*snapshot.job, *write.on_success);
        continue;
      }
      const base::Error& error = answers[i].error();
      if (write.verb == reconcile::Write::Verb::kDelete && error.code == base::Code::kNotFound) {
        continue;
      }
      if (write.on_failure) {
        reconcile::Event event = *write.on_failure;
        event.message += error.message;
        events_.Record(*snapshot.job, event);
      }
      if (failure) failure = base::Fail(error.Wrap(write.name));
    }
  }
  TRY(failure);
  if (plan.status) {
    TRY(WriteStatus(*snapshot.job, *plan.status));
    TRY(RecordFailure(snapshot, *plan.status));
  }
  return {};
}

base::Status Controller::RecordFailure(const JobCache::Snapshot& snapshot,
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
  const auto patched = client_.Patch(api::kPyTorchJobs, summary.namespace_name, summary.name,
                                     cluster::PatchType::kMerge, patch);
  if (!patched) return base::Fail(patched.error());
  Enqueue(cache_.PutJob(*patched));
  return {};
}

base::Status Controller::WriteStatus(const text::Json& job, text::Json status) {
  text::Json object = text::Object{
      {"apiVersion", "kubeflow.org/v1"},
      {"kind", "PyTorchJob"},
      {"metadata",
       text::Object{{"name", text::GetString(job, {"metadata", "name"})},
                    {"namespace", text::GetString(job, {"metadata", "namespace"})},
                    {"uid", text::GetString(job, {"metadata", "uid"})},
                    {"resourceVersion", text::GetString(job, {"metadata", "resourceVersion"})}}},
      {"status", std::move(status)}};
  // A whole object, so that an API server that validates the main resource accepts it too.
  if (const text::Json* const spec = text::Find(job, {"spec"})) object.as_object()["spec"] = *spec;
  TRY_ASSIGN(text::Json stored, client_.UpdateStatus(api::kPyTorchJobs, object));
  // The watch will find this version known already: the pass that it calls for is asked for here.
  Enqueue(cache_.PutJob(std::move(stored)));
  return {};
}

void Controller::CountUp(const reconcile::Plan& plan) {
  for (const reconcile::Counter counter : plan.counters) {
    switch (counter) {
      case reconcile::Counter::kCreated:
        ++counters_.created;
        break;
      case reconcile::Counter::kDeleted:
        ++counters_.deleted;
        break;
      case reconcile::Counter::kSucceeded:
        ++counters_.succeeded;
        break;
      case reconcile::Counter::kFailed:
        ++counters_.failed;
        break;
      case reconcile::Counter::kRestarted:
        ++counters_.restarted;
        break;
    }
  }
}

}  // namespace controller
