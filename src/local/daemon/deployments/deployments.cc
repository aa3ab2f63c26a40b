#include "local/daemon/deployments/deployments.h"

#include <fmt/format.h>

#include <chrono>

#include "api/names.h"
#include "api/object.h"
#include "api/resources.h"
#include "base/log.h"
#include "local/daemon/deployments/deployment_plan.h"

namespace local::daemon {

namespace {

constexpr base::Duration kFirstBackoff = std::chrono::milliseconds(5);
constexpr base::Duration kMaxBackoff = std::chrono::seconds(60);

std::string KeyOf(std::string_view namespace_name, std::string_view name) {
  return fmt::format("{}/{}", namespace_name, name);
}

// The Deployment that controls the pod; nullptr when it is another kind.
const text::Json* OwnerOf(const text::Json& pod) {
  const text::Json* owner = api::ControllerReference(pod);
  const bool is_deployment =
      owner != nullptr && text::GetString(*owner, {"kind"}) == api::kDeployments.kind;
  return is_deployment ? owner : nullptr;
}

}  // namespace

Deployments::Deployments(cluster::Client& client, base::Clock& clock)
    : client_(client), clock_(clock), queue_(clock, kFirstBackoff, kMaxBackoff) {
  reflectors_.push_back(ReflectDeployments());
  reflectors_.push_back(ReflectPods());
  thread_ = std::thread([this] { Run(); });
}

Deployments::~Deployments() {
  queue_.Stop();
  reflectors_.clear();
  thread_.join();
}

std::unique_ptr<cluster::Reflector> Deployments::ReflectDeployments() {
  cluster::ReflectorHandler handler;
  handler.replace = [this](std::vector<text::Json> items) { ReplaceDeployments(std::move(items)); };
  handler.apply = [this](cluster::WatchEvent event) {
    const std::string key = KeyOf(api::Namespace(event.object), api::Name(event.object));
    const std::lock_guard lock(mutex_);
    if (event.type == cluster::WatchEvent::Type::kDeleted) {
      deployments_.erase(key);
    } else {
      deployments_[key] = std::move(event.object);
    }
    queue_.Add(key);
  };
  return std::make_unique<cluster::Reflector>(client_, api::kDeployments, cluster::ListOptions(),
                                              std::move(handler));
}

std::unique_ptr<cluster::Reflector> Deployments::ReflectPods() {
  cluster::ReflectorHandler handler;
  handler.replace = [this](std::vector<text::Json> items) { ReplacePods(std::move(items)); };
  handler.apply = [this](cluster::WatchEvent event) {
    const std::lock_guard lock(mutex_);
    if (event.type == cluster::WatchEvent::Type::kDeleted) {
      RemovePod(event.object);
    } else {
      PutPod(std::move(event.object));
    }
  };
  cluster::ListOptions options;
  options.label_selector = kTemplateHashLabel;
  return std::make_unique<cluster::Reflector>(client_, api::kPods, options, std::move(handler));
}

void Deployments::ReplaceDeployments(std::vector<text::Json> deployments) {
  const std::lock_guard lock(mutex_);
  deployments_.clear();
  for (text::Json& deployment : deployments) {
    const std::string key = KeyOf(api::Namespace(deployment), api::Name(deployment));
    const bool is_stopped = !api::Annotation(deployment, api::kStoppedAnnotation).empty();
    if (is_stopped && !has_deployments_) stopped_.insert(key);
    deployments_[key] = std::move(deployment);
    queue_.Add(key);
  }
  has_deployments_ = true;
}

void Deployments::ReplacePods(std::vector<text::Json> pods) {
  const std::lock_guard lock(mutex_);
  pods_.clear();
  for (text::Json& pod : pods) PutPod(std::move(pod));
  has_pods_ = true;
  for (const auto& [key, deployment] : deployments_) queue_.Add(key);
}

// The caller holds the lock.
void Deployments::PutPod(text::Json pod) {
  const text::Json* owner = OwnerOf(pod);
  if (owner == nullptr) return;
  const std::string owner_uid(text::GetString(*owner, {"uid"}));
  queue_.Add(KeyOf(api::Namespace(pod), text::GetString(*owner, {"name"})));
  const std::string uid(api::Uid(pod));
  pods_[owner_uid][uid] = std::move(pod);
}

// The caller holds the lock.
void Deployments::RemovePod(const text::Json& pod) {
  const text::Json* owner = OwnerOf(pod);
  if (owner == nullptr) return;
  const auto it = pods_.find(std::string(text::GetString(*owner, {"uid"})));
  if (it == pods_.end()) return;
  it->second.erase(std::string(api::Uid(pod)));
  if (it->second.empty()) pods_.erase(it);
  queue_.Add(KeyOf(api::Namespace(pod), text::GetString(*owner, {"name"})));
}

std::optional<Deployments::Snapshot> Deployments::Look(const std::string& key) {
  const std::lock_guard lock(mutex_);
  // With incomplete lists, pods that exist would be created again.
  if (!has_deployments_ || !has_pods_) return std::nullopt;
  const auto it = deployments_.find(key);
  if (it == deployments_.end()) return std::nullopt;
  Snapshot snapshot{it->second, {}, stopped_.erase(key) > 0};
  const auto pods = pods_.find(std::string(api::Uid(it->second)));
  if (pods == pods_.end()) return snapshot;
  for (const auto& [uid, pod] : pods->second) snapshot.pods.push_back(pod);
  return snapshot;
}

void Deployments::Run() {
  while (const auto key = queue_.Get()) {
    const base::Status done = Reconcile(*key);
    if (done) {
      queue_.Forget(*key);
    } else {
      base::LogDebug("deployment {}: {}", *key, done.error().message);
      queue_.AddWithBackoff(*key);
    }
    queue_.Done(*key);
  }
}

base::Status Deployments::Reconcile(const std::string& key) {
  const std::optional<Snapshot> snapshot = Look(key);
  if (!snapshot) return {};
  if (snapshot->is_to_be_taken_up) return TakeUpAgain(snapshot->deployment);
  std::vector<const text::Json*> pods;
  for (const text::Json& pod : snapshot->pods) pods.push_back(&pod);
  DeploymentPlan plan = PlanDeployment(snapshot->deployment, pods, clock_.Now());
  if (plan.look_again) queue_.AddAfter(key, *plan.look_again - clock_.Now());
  TRY(WritePods(plan.remove, std::move(plan.create)));
  if (!plan.status) return {};
  text::Json object = snapshot->deployment;
  text::Set(object, {"status"}, std::move(*plan.status));
  const auto written = client_.UpdateStatus(api::kDeployments, object);
  // Conflict, NotFound: a newer version is on its way and will be handled.
  if (!written && written.error().code != base::Code::kConflict &&
      written.error().code != base::Code::kNotFound) {
    return base::Fail(written.error().Wrap("write its status"));
  }
  return {};
}

base::Status Deployments::TakeUpAgain(const text::Json& deployment) {
  text::Json patch = text::Object();
  text::Set(patch, {"metadata", "annotations", api::kStoppedAnnotation}, nullptr);
  const auto patched = client_.Patch(api::kDeployments, api::Namespace(deployment),
                                     api::Name(deployment), cluster::PatchType::kMerge, patch);
  if (patched || patched.error().code == base::Code::kNotFound) return {};
  const std::lock_guard lock(mutex_);
  stopped_.insert(KeyOf(api::Namespace(deployment), api::Name(deployment)));
  return base::Fail(patched.error());
}

// In this order and at once, so that names are free for their next pods.
base::Status Deployments::WritePods(const std::vector<const text::Json*>& removed,
                                    std::vector<text::Json> created) {
  std::vector<cluster::BatchWrite> batch;
  for (const text::Json* pod : removed) {
    cluster::BatchWrite& write = batch.emplace_back();
    write.verb = cluster::BatchWrite::Verb::kDelete;
    write.resource = &api::kPods;
    write.namespace_name = api::Namespace(*pod);
    write.name = api::Name(*pod);
    write.delete_options.uid = api::Uid(*pod);
  }
  for (text::Json& pod : created) {
    cluster::BatchWrite& write = batch.emplace_back();
    write.resource = &api::kPods;
    write.namespace_name = api::Namespace(pod);
    write.name = api::Name(pod);
    write.object = std::move(pod);
  }
  base::Status failure;
  const auto answers = client_.Batch(batch);
  for (size_t i = 0; i < answers.size(); ++i) {
    if (answers[i]) continue;
    const bool is_deletion = batch[i].verb == cluster::BatchWrite::Verb::kDelete;
    if (is_deletion && answers[i].error().code == base::Code::kNotFound) continue;
    // Includes AlreadyExists: the watch has not reported an earlier creation yet.
    if (failure) failure = base::Fail(answers[i].error().Wrap(batch[i].name));
  }
  return failure;
}

}  // namespace local::daemon
