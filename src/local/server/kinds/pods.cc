#include <fmt/format.h>

#include <cstdint>

#include "api/job/training_summary.h"
#include "api/object.h"
#include "api/pod.h"
#include "base/strings.h"
#include "local/server/kinds/container_rules.h"
#include "local/server/kinds/kind_rules.h"
#include "local/server/kinds/object_rules.h"
#include "local/server/kinds/scheduling_rules.h"

namespace local::server {
namespace {

constexpr Column kPodColumns[] = {{"Name", "string"},
                                  {"Ready", "string"},
                                  {"Status", "string"},
                                  {"Restarts", "string"},
                                  {"Age", "string"},
                                  {"IP", "string", 1},
                                  {"Node", "string", 1},
                                  {"Nominated Node", "string", 1},
                                  {"Readiness Gates", "string", 1}};

void SetProbeDefaults(text::Json& container) {
  for (const std::string_view name : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    text::Json* const probe = text::Find(container, {name});
    if (probe == nullptr || !probe->is_object()) continue;
    text::SetDefault(*probe, {"timeoutSeconds"}, 1);
    text::SetDefault(*probe, {"periodSeconds"}, 10);
    text::SetDefault(*probe, {"successThreshold"}, 1);
    text::SetDefault(*probe, {"failureThreshold"}, 3);
  }
}

void SetContainerDefaults(text::Json& pod, std::string_view list) {
  text::Json* const containers = text::Find(pod, {"spec", list});
  if (containers == nullptr || !containers->is_array()) return;
  for (text::Json& container : containers->get_array()) {
    SetProbeDefaults(container);
    text::Json* const ports = text::Find(container, {"ports"});
    if (ports == nullptr || !ports->is_array()) continue;
    for (text::Json& port : ports->get_array()) SetDefaultText(port, {"protocol"}, "TCP");
  }
}

void SetPodDefaults(text::Json& pod) {
  SetDefaultText(pod, {"spec", "restartPolicy"}, "Always");
  text::SetDefault(pod, {"spec", "terminationGracePeriodSeconds"}, kDefaultGraceSeconds);
  if (text::GetInt(pod, {"spec", "terminationGracePeriodSeconds"}).value_or(0) < 0) {
    text::Set(pod, {"spec", "terminationGracePeriodSeconds"}, 1);
  }
  text::SetDefault(pod, {"spec", "schedulerName"}, "default-scheduler");
  // `kubectl debug` relies on it.
  text::SetDefault(pod, {"spec", "securityContext"}, text::Object{});
  SetContainerDefaults(pod, "containers");
  SetContainerDefaults(pod, "initContainers");
}

// The kubelet's rule: Guaranteed when every container's requests are its limits of both CPU and
// memory, BestEffort when none has either.
std::string_view QosClassOf(const text::Json& pod) {
  bool has_any = false;
  bool is_guaranteed = true;
  for (const std::string_view list : {"containers", "initContainers"}) {
    for (const text::Json& container : text::Items(pod, {"spec", list})) {
      for (const std::string_view resource : {"cpu", "memory"}) {
        const text::Json* const limit = text::Find(container, {"resources", "limits", resource});
        const text::Json* const request =
            text::Find(container, {"resources", "requests", resource});
        has_any |= limit != nullptr || request != nullptr;
        is_guaranteed &= limit != nullptr && (request == nullptr || *request == *limit);
      }
    }
  }
  return !has_any ? "BestEffort" : is_guaranteed ? "Guaranteed" : "Burstable";
}

void BeginPod(text::Json& pod) {
  text::Set(pod, {"status"}, text::Object{{"phase", "Pending"}, {"qosClass", QosClassOf(pod)}});
}

void CheckRestartPolicy(const text::Json& pod, Causes& causes) {
  const std::string_view policy = text::GetString(pod, {"spec", "restartPolicy"});
  CheckChoice("spec.restartPolicy", policy, {"Always", "OnFailure", "Never"}, causes);
}

void CheckPod(const text::Json& pod, Causes& causes) {
  if (text::Items(pod, {"spec", "containers"}).empty()) {
    causes.emplace_back("spec.containers: Required value");
  }
  CheckVolumes(pod, causes);
  CheckContainers(pod, "containers", causes);
  CheckContainers(pod, "initContainers", causes);
  CheckRestartPolicy(pod, causes);
  CheckDnsPolicy(pod, causes);
  CheckNodeAffinity(pod, causes);
  CheckTolerations(pod, causes);
  const auto deadline = text::GetInt(pod, {"spec", "activeDeadlineSeconds"});
  if (deadline && (*deadline < 1 || *deadline > INT32_MAX)) {
    causes.push_back(fmt::format(
        "spec.activeDeadlineSeconds: Invalid value: {}: must be between 1 and {}, inclusive",
        *deadline, INT32_MAX));
  }
}

// A pod's spec without the fields that may be changed later.
text::Json FixedPodSpec(const text::Json& pod) {
  const text::Json* spec = text::Find(pod, {"spec"});
  text::Json fixed = spec == nullptr ? text::Json(text::Object{}) : *spec;
  for (const std::string_view list : {"containers", "initContainers"}) {
    text::Json* containers = text::Find(fixed, {list});
    if (containers == nullptr || !containers->is_array()) continue;
    for (text::Json& container : containers->get_array()) text::Erase(container, {"image"});
  }
  text::Erase(fixed, {"activeDeadlineSeconds"});
  text::Erase(fixed, {"terminationGracePeriodSeconds"});
  text::Erase(fixed, {"tolerations"});
  return fixed;
}

void CheckPodChange(const text::Json& old, const text::Json& pod, Causes& causes) {
  if (FixedPodSpec(old) == FixedPodSpec(pod)) return;
  causes.emplace_back(
      "spec: Forbidden: pod updates may not change fields other than "
      "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
      "`spec.tolerations` (only additions to existing tolerations),"
      "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously "
      "negative)");
}

void PodCells(const text::Json& pod, base::Time now, Cells& cells) {
  const auto statuses = api::ContainerStatuses(pod);
  size_t ready = 0;
  std::optional<base::Time> last_restart;
  for (const auto& status : statuses) {
    if (status.is_ready) ++ready;
    if (status.last_terminated && status.last_terminated->finished > last_restart) {
      last_restart = status.last_terminated->finished;
    }
  }
  cells.Text(api::Name(pod));
  cells.Text(fmt::format("{}/{}", ready, text::Items(pod, {"spec", "containers"}).size()));
  cells.Text(api::PodStatusText(pod));
  const int restarts = api::RestartCount(pod);
  cells.Text(restarts > 0 && last_restart
                 ? fmt::format("{} ({} ago)", restarts, Age(last_restart, now))
                 : std::to_string(restarts));
  cells.Text(Age(api::CreationTime(pod), now));
  cells.TextOr(text::GetString(pod, {"status", "podIP"}), "<none>");
  cells.TextOr(api::NodeName(pod), "<none>");
  cells.TextOr(text::GetString(pod, {"status", "nominatedNodeName"}), "<none>");
  cells.Text("<none>");
}

}  // namespace

const KindRules kPodRules{.short_name = "po",
                          .is_in_all = true,
                          .has_generation = true,
                          .set_defaults = SetPodDefaults,
                          .begin = BeginPod,
                          .check = CheckPod,
                          .check_change = CheckPodChange,
                          .columns = kPodColumns,
                          .cells = PodCells};

}  // namespace local::server
