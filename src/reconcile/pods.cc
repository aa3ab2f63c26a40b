#include "reconcile/pods.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/names.h"
#include "api/pod.h"
#include "reconcile/gang.h"
#include "reconcile/pod/environment.h"
#include "reconcile/pod/init_container.h"
#include "reconcile/pod/pod_template.h"
#include "reconcile/pod/status_posts.h"
#include "reconcile/restart.h"
#include "reconcile/restart_scope.h"
#include "reconcile/services.h"
#include "reconcile/suspend.h"
#include "reconcile/writes.h"

namespace reconcile {
namespace {

std::string LabelValue(std::string_view job_name) {
  std::string value(job_name);
  std::replace(value.begin(), value.end(), '/', '-');
  return value;
}

bool HoldsTheMasterRole(const api::PyTorchJob& job, const Replicas& replicas, int index) {
  if (job.Master() != nullptr) return replicas.type == api::kMaster;
  return index == 0;
}

text::Json BuildMetadata(const JobState& state, const Replicas& replicas, int index) {
  const text::Json& pod_template = replicas.spec->template_json;
  text::Object metadata;
  metadata["name"] = api::ReplicaName(state.job.name, replicas.type, index);
  metadata["namespace"] = state.job.namespace_name;
  text::Object all = text::Members(pod_template, {"metadata", "labels"});
  for (auto& [key, value] : ReplicaLabels(state.job, replicas.label, index)) {
    all[key] = std::move(value);
  }
  if (HoldsTheMasterRole(state.job, replicas, index)) all[api::kJobRoleLabel] = "master";
  metadata["labels"] = std::move(all);
  for (const std::string_view kept : {"annotations", "finalizers"}) {
    const text::Json* const value = text::Find(pod_template, {"metadata", kept});
    if (value != nullptr && !value->is_null()) metadata[kept] = *value;
  }
  if (const int restarts = RestartsOf(state.job, replicas, index); restarts > 0) {
    text::Json& annotations = metadata["annotations"];
    if (!annotations.is_object()) annotations.emplace_object();
    annotations.get_object()[api::kRestartsAnnotation] = fmt::to_string(restarts);
  }
  if (std::string run = RunOf(state.status); !run.empty()) {
    text::Json& annotations = metadata["annotations"];
    if (!annotations.is_object()) annotations.emplace_object();
    annotations.get_object()[api::kRunAnnotation] = std::move(run);
  }
  metadata["ownerReferences"] = OwnerReferences(state.job);
  return metadata;
}

text::Array& EnsureArray(text::Json& object, std::string_view key) {
  text::Json& value = text::Ensure(object, {key});
  if (!value.is_array()) value.emplace_array();
  return value.get_array();
}

void AddEnvironment(text::Json& pod, const text::Array& before, const text::Array& after) {
  text::Json* const containers = text::Find(pod, {"spec", "containers"});
  if (containers == nullptr || !containers->is_array()) return;
  for (text::Json& container : containers->get_array()) {
    if (!container.is_object()) continue;
    text::Array& env = EnsureArray(container, "env");
    env.reserve(env.size() + before.size() + after.size());
    env.insert(env.begin(), before.begin(), before.end());
    env.insert(env.end(), after.begin(), after.end());
  }
}

// Puts a failed container's last lines into its status, unless the template says otherwise; from
// there they get into the job's status (outcome.h).
void KeepLastLines(text::Json& spec) {
  for (const std::string_view list : {"containers", "initContainers"}) {
    text::Json* const containers = text::Find(spec, {list});
    if (containers == nullptr || !containers->is_array()) continue;
    for (text::Json& container : containers->get_array()) {
      if (!container.is_object()) continue;
      text::SetDefault(container, {"terminationMessagePolicy"}, "FallbackToLogsOnError");
    }
  }
}

void AssignPort(text::Json& pod, int port) {
  text::Json* const container = api::MainContainer(pod);
  if (container == nullptr || !container->is_object()) return;
  for (text::Json& entry : EnsureArray(*container, "ports")) {
    if (text::GetString(entry, {"name"}) != api::kPortName) continue;
    text::Set(entry, {"containerPort"}, port);
    if (text::Find(entry, {"hostPort"}) != nullptr) text::Set(entry, {"hostPort"}, port);
  }
}

// In the network of its node a named port is reserved, so two pods that name the same one cannot
// share the node. Only rank 0 listens on it.
void DropHostPort(text::Json& pod) {
  text::Json* const container = api::MainContainer(pod);
  if (container == nullptr || !container->is_object()) return;
  text::Array& ports = EnsureArray(*container, "ports");
  for (auto entry = ports.begin(); entry != ports.end();) {
    const bool is_ours = text::GetString(*entry, {"name"}) == api::kPortName;
    entry = is_ours ? ports.erase(entry) : entry + 1;
  }
}

bool IsRank0(const JobState& state, const Replicas& replicas, int index) {
  return index == 0 && (&replicas == &state.children.master || !state.HasMaster());
}

void AddOnce(JobState& state, Event event) {
  auto& events = state.plan.events;
  if (std::find(events.begin(), events.end(), event) == events.end()) {
    events.push_back(std::move(event));
  }
}

// Warns once in a reconciliation, however many pods are affected.
void WarnOfTemplate(JobState& state, const api::ReplicaSpec& spec) {
  if (!text::GetString(spec.template_json, {"spec", "restartPolicy"}).empty()) {
    AddOnce(state,
            Warning("SetPodTemplateRestartPolicy",
                    "Restart policy in pod template will be overwritten by restart policy in "
                    "replica spec"));
  }
  if (HasOtherScheduler(state.job, state.options)) {
    AddOnce(state, Warning("SetPodTemplateSchedulerName",
                           "Another scheduler is specified when gang-scheduling is enabled and it "
                           "will not be overwritten"));
  }
}

// The job runs without these services: only rank 0 is found through one.
void WarnOfNames(JobState& state, const Replicas& replicas, int32_t nameable) {
  state.plan.events.push_back(
      Warning("FailedCreateService",
              fmt::format("No service for {} and those after it: its name would be too long",
                          api::ReplicaName(state.job.name, replicas.type, nameable))));
}

void CreateMissing(JobState& state, const Replicas& replicas) {
  const int32_t nameable = NameableServices(state, replicas);
  const std::vector<int> pods =
      MustWaitForRestart(state, replicas)
          ? std::vector<int>()
          : MissingIndexes(replicas.pods, replicas.Wanted(), state.observed.max_creations);
  const std::vector<int> services =
      MissingIndexes(replicas.services, nameable, state.observed.max_creations);
  if (!pods.empty()) WarnOfTemplate(state, *replicas.spec);
  if (!pods.empty() && pods.back() >= nameable) WarnOfNames(state, replicas, nameable);
  if (std::max(std::ssize(pods), std::ssize(services)) >= state.observed.max_creations) {
    state.plan.has_more = true;
  }
  auto pod = pods.begin();
  auto service = services.begin();
  while (pod != pods.end() || service != services.end()) {
    if (service == services.end() || (pod != pods.end() && *pod <= *service)) {
      state.plan.writes.push_back(CreateChild(api::kPods, BuildPod(state, replicas, *pod++)));
    } else {
      state.plan.writes.push_back(
          CreateChild(api::kServices, BuildService(state, replicas, *service++)));
    }
  }
}

void DeleteSurplus(JobState& state, const Replicas& replicas) {
  for (const Pod& pod : replicas.pods) {
    if (!replicas.IsWanted(pod) && !pod.is_terminating) {
      state.plan.writes.push_back(DeleteChild(api::kPods, pod));
    }
  }
  for (const Child& service : replicas.services) {
    if (!replicas.IsWanted(service) && service.is_own && !service.is_terminating) {
      state.plan.writes.push_back(DeleteChild(api::kServices, service));
    }
  }
}

}  // namespace

text::Object ReplicaLabels(const api::PyTorchJob& job, std::string_view label, int index) {
  text::Object labels;
  labels[api::kOperatorNameLabel] = api::kControllerName;
  labels[api::kJobNameLabel] = LabelValue(job.name);
  labels[api::kReplicaTypeLabel] = label;
  labels[api::kReplicaIndexLabel] = fmt::to_string(index);
  return labels;
}

std::string Selector(const api::PyTorchJob& job, std::string_view label) {
  return fmt::format("{}={},{}={},{}={}", api::kJobNameLabel, LabelValue(job.name),
                     api::kOperatorNameLabel, api::kControllerName, api::kReplicaTypeLabel, label);
}

text::Json BuildPod(const JobState& state, const Replicas& replicas, int index) {
  const text::Json* const spec = text::Find(replicas.spec->template_json, {"spec"});
  text::Json pod = text::Object{{"apiVersion", "v1"}, {"kind", "Pod"}};
  text::Object& fields = pod.get_object();
  fields["metadata"] = BuildMetadata(state, replicas, index);
  fields["spec"] = spec != nullptr && spec->is_object() ? *spec : text::Json(text::Object());
  text::Set(pod, {"spec", "restartPolicy"},
            text::Json(PodRestartPolicy(state.job, *replicas.spec)));
  if (state.observed.master_port) {
    const bool is_on_host = text::GetBool(pod, {"spec", "hostNetwork"}).value_or(false);
    if (is_on_host && !IsRank0(state, replicas, index)) {
      DropHostPort(pod);
    } else {
      AssignPort(pod, *state.observed.master_port);
    }
  }
  AddEnvironment(pod, EnvironmentBefore(state.job),
                 Environment(state.job, replicas.type, index, state.observed.master_port));
  text::Array init_containers =
      InitContainers(state.job, replicas.type, state.options, state.observed.master_port);
  if (!init_containers.empty()) {
    text::Array& all = EnsureArray(fields["spec"], "initContainers");
    for (text::Json& container : init_containers) all.push_back(std::move(container));
  }
  AddStatusPosts(state.options.status_posts, state.job, pod);
  if (state.options.reports_first_failure) KeepLastLines(fields["spec"]);
  DecorateForGang(state, replicas, pod);
  return pod;
}

void ReconcileReplicas(JobState& state) {
  for (const Replicas* const replicas : state.Types()) {
    if (replicas->spec != nullptr) CreateMissing(state, *replicas);
    DeleteSurplus(state, *replicas);
  }
}

}  // namespace reconcile
