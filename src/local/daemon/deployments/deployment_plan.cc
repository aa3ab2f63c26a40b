#include "local/daemon/deployments/deployment_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "api/resources.h"
#include "base/strings.h"

namespace local::daemon {

namespace {

using text::GetInt;
using text::GetString;

constexpr size_t kHashDigits = 10;
constexpr int64_t kMaxReplicas = 1000;
// How many pods with this name ended early before this one.
constexpr std::string_view kReplacedAnnotation = "muster.dev/replaced";
// As kubelet does for containers.
constexpr base::Duration kFirstWait = std::chrono::seconds(10);
constexpr base::Duration kLongestWait = std::chrono::minutes(5);
constexpr base::Duration kStableRun = std::chrono::minutes(10);

base::Duration WaitAfter(int64_t replaced) {
  base::Duration wait = kFirstWait;
  for (int64_t i = 0; i < replaced && wait < kLongestWait; ++i) wait *= 2;
  return std::min(wait, kLongestWait);
}

// When the last of its containers ended, or its creation if none has run.
base::Time EndOf(const text::Json& pod) {
  base::Time end = api::CreationTime(pod).value_or(base::Time());
  for (const api::ContainerStatus& status : api::ContainerStatuses(pod)) {
    if (status.terminated && status.terminated->finished) {
      end = std::max(end, *status.terminated->finished);
    }
  }
  return end;
}

class Planner {
 public:
  Planner(const text::Json& deployment, const std::vector<const text::Json*>& pods, base::Time now)
      : deployment_(deployment), pods_(pods), now_(now) {}

  DeploymentPlan Plan() {
    if (api::IsDeleting(deployment_)) return {};
    wanted_ =
        std::clamp<int64_t>(GetInt(deployment_, {"spec", "replicas"}).value_or(1), 0, kMaxReplicas);
    if (!api::Annotation(deployment_, api::kStoppedAnnotation).empty()) wanted_ = 0;
    const text::Json* pod_template = text::Find(deployment_, {"spec", "template"});
    if (pod_template == nullptr || !pod_template->is_object()) return {};
    template_ = pod_template;
    hash_ = base::Md5Hex(text::ToJson(*pod_template)).substr(0, kHashDigits);
    if (!text::GetBool(deployment_, {"spec", "paused"}).value_or(false)) PlanPods();
    PlanStatus();
    return std::move(plan_);
  }

 private:
  std::string NameOf(int64_t index) const {
    return fmt::format("{}-{}-{}", api::Name(deployment_), hash_, index);
  }

  bool IsCurrent(const text::Json& pod) const {
    return api::Label(pod, kTemplateHashLabel) == hash_;
  }

  void PlanPods() {
    std::map<std::string, const text::Json*> there;
    for (const text::Json* pod : pods_) there.emplace(api::Name(*pod), pod);
    std::vector<std::string> names;
    for (int64_t i = 0; i < wanted_; ++i) names.push_back(NameOf(i));
    bool is_in_the_way = false;
    for (const auto& [name, pod] : there) {
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      if (!api::IsDeleting(*pod)) plan_.remove.push_back(pod);
      is_in_the_way = is_in_the_way || (!IsCurrent(*pod) && !api::IsPodFinished(*pod));
    }
    for (const std::string& name : names) {
      const auto it = there.find(name);
      if (it != there.end()) {
        PlanSuccessor(*it->second);
      } else if (!is_in_the_way) {
        plan_.create.push_back(MakePod(name, 0));
      }
    }
  }

  void PlanSuccessor(const text::Json& pod) {
    if (!api::IsPodFinished(pod) || api::IsDeleting(pod)) return;
    const base::Time end = EndOf(pod);
    const bool was_stable = end - api::CreationTime(pod).value_or(end) >= kStableRun;
    const int64_t replaced =
        was_stable ? 0 : base::ParseInt(api::Annotation(pod, kReplacedAnnotation)).value_or(0);
    const base::Time due = end + WaitAfter(replaced);
    if (now_ < due) {
      plan_.look_again = std::min(plan_.look_again.value_or(due), due);
      return;
    }
    plan_.remove.push_back(&pod);
    plan_.create.push_back(MakePod(std::string(api::Name(pod)), replaced + 1));
  }

  text::Json MakePod(const std::string& name, int64_t replaced) const {
    text::Json pod =
        text::Object{{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", text::Object()}};
    for (const std::string_view field : {"labels", "annotations"}) {
      if (const text::Object* map = text::FindObject(*template_, {"metadata", field})) {
        text::Set(pod, {"metadata", field}, *map);
      }
    }
    text::Set(pod, {"metadata", "name"}, text::Json(name));
    text::Set(pod, {"metadata", "namespace"}, text::Json(api::Namespace(deployment_)));
    text::Set(pod, {"metadata", "ownerReferences"},
              text::Array{api::MakeControllerReference(api::kDeployments, deployment_)});
    api::SetLabel(pod, kTemplateHashLabel, hash_);
    if (replaced > 0) api::SetAnnotation(pod, kReplacedAnnotation, std::to_string(replaced));
    // A Deployment that belongs to a job is stored with the job, and deleted with it.
    if (const text::Json* owner = api::ControllerReference(deployment_);
        owner != nullptr && GetString(*owner, {"kind"}) == api::kPyTorchJobs.kind) {
      api::SetAnnotation(pod, api::kJobUidAnnotation, GetString(*owner, {"uid"}));
    }
    const text::Json* spec = text::Find(*template_, {"spec"});
    text::Set(pod, {"spec"}, spec == nullptr ? text::Json(text::Object()) : *spec);
    return pod;
  }

  text::Json Condition(std::string_view type, bool is_true, std::string_view reason,
                       std::string_view message) const {
    const std::string time = base::FormatRfc3339(now_);
    text::Object condition{{"type", type},           {"status", is_true ? "True" : "False"},
                           {"lastUpdateTime", time}, {"lastTransitionTime", time},
                           {"reason", reason},       {"message", message}};
    for (const text::Json& old : text::Items(deployment_, {"status", "conditions"})) {
      if (GetString(old, {"type"}) != type) continue;
      if (GetString(old, {"status"}) != (is_true ? "True" : "False")) break;
      condition["lastTransitionTime"] = GetString(old, {"lastTransitionTime"});
      if (GetString(old, {"reason"}) == reason) {
        condition["lastUpdateTime"] = GetString(old, {"lastUpdateTime"});
      }
    }
    return condition;
  }

  void PlanStatus() {
    int64_t total = 0, updated = 0, ready = 0;
    for (const text::Json* pod : pods_) {
      if (api::IsPodFinished(*pod) || api::IsDeleting(*pod)) continue;
      ++total;
      updated += IsCurrent(*pod) ? 1 : 0;
      ready += api::IsPodReady(*pod) ? 1 : 0;
    }
    text::Object status;
    status["observedGeneration"] = GetInt(deployment_, {"metadata", "generation"}).value_or(0);
    // Like Kubernetes, leaves out a count of zero.
    const auto put = [&](std::string_view key, int64_t count) {
      if (count > 0) status[key] = count;
    };
    put("replicas", total);
    put("updatedReplicas", updated);
    put("readyReplicas", ready);
    put("availableReplicas", ready);
    put("unavailableReplicas", std::max<int64_t>(0, wanted_ - ready));
    const bool is_available = ready >= wanted_;
    const bool is_complete = is_available && updated == wanted_ && total == wanted_;
    status["conditions"] = text::Array{
        is_available ? Condition("Available", true, "MinimumReplicasAvailable",
                                 "Deployment has minimum availability.")
                     : Condition("Available", false, "MinimumReplicasUnavailable",
                                 "Deployment does not have minimum availability."),
        Condition("Progressing", true, is_complete ? "NewReplicaSetAvailable" : "ReplicaSetUpdated",
                  is_complete ? "every pod of the template is available"
                              : "pods of the template are being created or started")};
    const text::Json* old = text::Find(deployment_, {"status"});
    if (old == nullptr || *old != text::Json(status)) plan_.status = std::move(status);
  }

  const text::Json& deployment_;
  const std::vector<const text::Json*>& pods_;
  const base::Time now_;
  int64_t wanted_ = 0;
  const text::Json* template_ = nullptr;
  std::string hash_;
  DeploymentPlan plan_;
};

}  // namespace

DeploymentPlan PlanDeployment(const text::Json& deployment,
                              const std::vector<const text::Json*>& pods, base::Time now) {
  return Planner(deployment, pods, now).Plan();
}

}  // namespace local::daemon
