#include "reconcile/gang.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/object.h"
#include "api/pod.h"
#include "base/strings.h"
#include "reconcile/json_compare.h"
#include "reconcile/resource_sum.h"
#include "reconcile/writes.h"

namespace reconcile {
namespace {

constexpr std::string_view kVolcano = "volcano";
constexpr std::string_view kDefaultQueue = "default";

bool IsOn(const Options& options) { return !options.gang_scheduler_name.empty(); }

bool IsVolcano(const Options& options) {
  return base::EqualsIgnoreCase(options.gang_scheduler_name, kVolcano);
}

std::string_view SchedulerName(const Options& options) {
  return IsVolcano(options) ? kVolcano : std::string_view(options.gang_scheduler_name);
}

const api::Resource& PodGroups(const Options& options) {
  return IsVolcano(options) ? api::kVolcanoPodGroups : api::kSchedulerPluginsPodGroups;
}

std::string_view TemplateScheduler(const api::ReplicaSpec& spec) {
  return text::GetString(spec.template_json, {"spec", "schedulerName"});
}

std::string QueueOf(const JobState& state, const api::SchedulingPolicy& policy) {
  if (state.observed.pod_group != nullptr) {
    const std::string_view queue = text::GetString(*state.observed.pod_group, {"spec", "queue"});
    if (!queue.empty()) return std::string(queue);
  }
  return policy.queue.empty() ? std::string(kDefaultQueue) : policy.queue;
}

// Every field that we own; null marks a field that has to be absent.
text::Object BuildSpec(const JobState& state) {
  const api::SchedulingPolicy policy =
      state.job.run_policy.scheduling_policy.value_or(api::SchedulingPolicy());
  const int32_t min_member = policy.min_available.value_or(state.job.TotalReplicas());
  text::Object spec;
  spec["minMember"] = min_member;
  spec["minResources"] =
      policy.min_resources ? *policy.min_resources : text::Json(MinResources(state, min_member));
  if (IsVolcano(state.options)) {
    spec["queue"] = QueueOf(state, policy);
    spec["priorityClassName"] =
        policy.priority_class.empty() ? text::Json() : text::Json(policy.priority_class);
  } else {
    spec["scheduleTimeoutSeconds"] = policy.schedule_timeout_seconds
                                         ? text::Json(*policy.schedule_timeout_seconds)
                                         : text::Json();
  }
  return spec;
}

text::Json BuildPodGroup(const JobState& state) {
  text::Object metadata;
  metadata["name"] = state.job.name;
  metadata["namespace"] = state.job.namespace_name;
  if (!state.job.annotations.empty()) {
    text::Object annotations;
    for (const auto& [key, value] : state.job.annotations) annotations[key] = value;
    metadata["annotations"] = std::move(annotations);
  }
  metadata["ownerReferences"] = OwnerReferences(state.job);
  text::Object spec;
  for (auto& [key, value] : BuildSpec(state)) {
    if (!value.is_null()) spec[key] = std::move(value);
  }
  const api::Resource& resource = PodGroups(state.options);
  text::Object group;
  group["apiVersion"] = resource.api_version();
  group["kind"] = resource.kind;
  group["metadata"] = std::move(metadata);
  group["spec"] = std::move(spec);
  return group;
}

// Fields that we do not own keep the values that others wrote.
std::optional<text::Json> BuildUpdate(const JobState& state) {
  const text::Json& existing = *state.observed.pod_group;
  text::Object spec = BuildSpec(state);
  const bool is_as_wanted = std::all_of(spec.begin(), spec.end(), [&](const auto& field) {
    return IsSameValue(&field.value(),
                       text::Find(existing, {"spec", std::string_view(field.key())}));
  });
  if (is_as_wanted) return std::nullopt;
  text::Json next = existing;
  for (auto& [key, value] : spec) {
    if (value.is_null()) {
      text::Erase(next, {"spec", std::string_view(key)});
    } else {
      text::Set(next, {"spec", std::string_view(key)}, std::move(value));
    }
  }
  return next;
}

bool IsAdmitted(const text::Json& pod_group) {
  const std::string_view phase = text::GetString(pod_group, {"status", "phase"});
  return !phase.empty() && phase != "Pending";
}

int32_t Priority(const JobState& state, const api::ReplicaSpec& spec) {
  const std::string name(api::PriorityClass(spec.template_json));
  const auto found = state.observed.priority_values.find(name);
  return found != state.observed.priority_values.end() ? found->second : 0;
}

void AddRequests(const api::ReplicaSpec& spec, ResourceSum& sum) {
  for (const text::Json& container : text::Items(spec.template_json, {"spec", "containers"})) {
    const text::Object* resources = text::FindObject(container, {"resources", "requests"});
    if (resources == nullptr) resources = text::FindObject(container, {"resources", "limits"});
    if (resources != nullptr) sum.Add(*resources);
  }
}

}  // namespace

bool HasToWaitForPodGroup(JobState& state) {
  if (!IsOn(state.options)) return false;
  const text::Json* const existing = state.observed.pod_group;
  if (existing == nullptr) {
    state.plan.writes.push_back(Create(PodGroups(state.options), BuildPodGroup(state)));
    return IsVolcano(state.options);
  }
  if (auto next = BuildUpdate(state)) {
    state.plan.writes.push_back(Update(PodGroups(state.options), *std::move(next)));
  }
  return IsVolcano(state.options) && !IsAdmitted(*existing);
}

void DeletePodGroup(JobState& state) {
  const text::Json* const existing = state.observed.pod_group;
  if (!IsOn(state.options) || existing == nullptr) return;
  if (!IsControlledBy(*existing, state.job.uid)) return;
  if (api::IsDeleting(*existing)) return;
  state.plan.events.push_back(
      Normal("JobTerminated", "Job has been terminated. Deleting PodGroup"));
  Write write = Delete(PodGroups(state.options), *existing);
  write.on_success = Normal("SuccessfulDeletePodGroup", "Deleted PodGroup: " + state.job.name);
  write.on_failure = Warning("FailedDeletePodGroup", "Error deleting: ");
  state.plan.writes.push_back(std::move(write));
}

void DecorateForGang(const JobState& state, const Replicas& replicas, text::Json& pod) {
  if (!IsOn(state.options)) return;
  if (text::GetString(pod, {"spec", "schedulerName"}).empty()) {
    text::Set(pod, {"spec", "schedulerName"}, text::Json(SchedulerName(state.options)));
  }
  if (!IsVolcano(state.options)) {
    text::Set(pod, {"metadata", "labels", "scheduling.x-k8s.io/pod-group"},
              text::Json(state.job.name));
    return;
  }
  text::Set(pod, {"metadata", "annotations", "scheduling.k8s.io/group-name"},
            text::Json(state.job.name));
  text::Set(pod, {"metadata", "annotations", "volcano.sh/task-spec"}, text::Json(replicas.label));
}

bool HasOtherScheduler(const api::PyTorchJob& job, const Options& options) {
  if (!IsOn(options)) return false;
  return std::any_of(job.replica_specs.begin(), job.replica_specs.end(), [&](const auto& entry) {
    const std::string_view name = TemplateScheduler(entry.second);
    return !name.empty() && name != SchedulerName(options);
  });
}

text::Object MinResources(const JobState& state, int32_t min_member) {
  std::vector<const api::ReplicaSpec*> specs;
  for (const Replicas* const replicas : state.Types()) {
    if (replicas->spec != nullptr) specs.push_back(replicas->spec);
  }
  std::stable_sort(specs.begin(), specs.end(), [&](const auto* a, const auto* b) {
    return Priority(state, *a) > Priority(state, *b);
  });
  ResourceSum sum;
  int32_t left = min_member;
  for (const api::ReplicaSpec* const spec : specs) {
    for (int32_t i = 0; i < spec->Replicas() && left > 0; ++i, --left) AddRequests(*spec, sum);
  }
  return sum.ToJson();
}

}  // namespace reconcile
