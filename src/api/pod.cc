#include "api/pod.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "api/names.h"
#include "api/object.h"
#include "base/quantity.h"
#include "gpu/vendor.h"
#include "text/projection.h"

namespace api {
namespace {

std::optional<Terminated> ReadTerminated(const text::Json& status, std::string_view which) {
  const text::Json* const state = text::Find(status, {which, "terminated"});
  if (state == nullptr || !state->is_object()) return std::nullopt;
  Terminated out;
  out.exit_code = static_cast<int>(text::GetInt(*state, {"exitCode"}).value_or(0));
  out.signal = static_cast<int>(text::GetInt(*state, {"signal"}).value_or(0));
  out.reason = text::GetString(*state, {"reason"});
  out.message = text::GetString(*state, {"message"});
  out.started = GetTime(*state, {"startedAt"});
  out.finished = GetTime(*state, {"finishedAt"});
  return out;
}

ContainerStatus ReadContainerStatus(const text::Json& status) {
  ContainerStatus out;
  out.name = text::GetString(status, {"name"});
  out.is_ready = text::GetBool(status, {"ready"}).value_or(false);
  out.has_started = text::GetBool(status, {"started"}).value_or(false);
  out.restart_count = static_cast<int>(text::GetInt(status, {"restartCount"}).value_or(0));
  out.is_waiting = text::FindObject(status, {"state", "waiting"}) != nullptr;
  out.waiting_reason = text::GetString(status, {"state", "waiting", "reason"});
  out.waiting_message = text::GetString(status, {"state", "waiting", "message"});
  out.is_running = text::FindObject(status, {"state", "running"}) != nullptr;
  out.running_since = GetTime(status, {"state", "running", "startedAt"});
  out.terminated = ReadTerminated(status, "state");
  out.last_terminated = ReadTerminated(status, "lastState");
  return out;
}

std::vector<ContainerStatus> StatusesAt(const text::Json& pod, std::string_view field) {
  const text::Array& statuses = text::Items(pod, {"status", field});
  std::vector<ContainerStatus> out;
  out.reserve(statuses.size());
  for (const text::Json& status : statuses) out.push_back(ReadContainerStatus(status));
  return out;
}

std::string QuantityText(const text::Json& value) {
  if (value.is_string()) return std::string(text::GetString(value, {}));
  return value.is_number() ? text::ToJson(value) : std::string();
}

int64_t AmountOf(std::string_view resource, const text::Json& quantity) {
  const std::string written = QuantityText(quantity);
  const auto amount =
      resource == "cpu" ? base::ParseQuantityMilli(written) : base::ParseQuantity(written);
  return amount ? std::max<int64_t>(*amount, 0) : 0;
}

void AddAmount(std::string_view resource, int64_t amount, ResourceRequest& out) {
  if (resource == "cpu") {
    out.cpu_milli = amount;
  } else if (resource == "memory") {
    out.memory_bytes = amount;
  } else if (gpu::IsResource(resource)) {
    out.gpus = std::max(out.gpus, amount);
  } else if (resource.find('/') != std::string_view::npos && amount != 0) {
    out.devices[std::string(resource)] = amount;
  }
}

void AddAmounts(const text::Object* amounts, ResourceRequest& out) {
  if (amounts == nullptr) return;
  for (const auto& [resource, quantity] : *amounts) {
    AddAmount(resource, AmountOf(resource, quantity), out);
  }
}

ResourceRequest ContainerRequest(const text::Json& container) {
  ResourceRequest out;
  AddAmounts(text::FindObject(container, {"resources", "limits"}), out);
  AddAmounts(text::FindObject(container, {"resources", "requests"}), out);
  return out;
}

}  // namespace

std::string_view Phase(const text::Json& pod) {
  const std::string_view phase = text::GetString(pod, {"status", "phase"});
  return phase.empty() ? "Pending" : phase;
}

bool IsPodFinished(const text::Json& pod) {
  const std::string_view phase = Phase(pod);
  return phase == "Succeeded" || phase == "Failed";
}

void TrimFinishedPod(text::Json& pod) {
  if (!IsPodFinished(pod)) return;
  text::Object& object = pod.as_object();
  object.erase("spec");
  text::Erase(pod, {"metadata", "managedFields"});
  text::Erase(pod, {"metadata", "annotations"});
  text::Object status;
  for (const char* key : {"phase", "startTime"}) {
    if (const text::Json* const value = text::Find(pod, {"status", key})) status[key] = *value;
  }
  object["status"] = std::move(status);
}

base::Result<text::Json> ReadUnfinishedPod(const text::Document& document) {
  static const text::Projection kParts{{"apiVersion"},
                                       {"kind"},
                                       {"metadata", "name"},
                                       {"metadata", "namespace"},
                                       {"metadata", "uid"},
                                       {"metadata", "resourceVersion"},
                                       {"metadata", "creationTimestamp"},
                                       {"metadata", "deletionTimestamp"},
                                       {"metadata", "labels"},
                                       {"metadata", "ownerReferences"},
                                       {"status", "phase"},
                                       {"status", "startTime"}};
  TRY_ASSIGN(text::Json pod, document.Part(kParts));
  if (IsPodFinished(pod)) return pod;
  return document.Whole();
}

bool IsPodReady(const text::Json& pod) { return TrueCondition(pod, "Ready") != nullptr; }

std::string_view NodeName(const text::Json& pod) {
  return text::GetString(pod, {"spec", "nodeName"});
}

std::string_view PriorityClass(const text::Json& pod) {
  return text::GetString(pod, {"spec", "priorityClassName"});
}

std::string_view PodRestartPolicy(const text::Json& pod) {
  const std::string_view policy = text::GetString(pod, {"spec", "restartPolicy"});
  return policy.empty() ? "Always" : policy;
}

const text::Json* DisruptionCondition(const text::Json& pod) {
  const text::Json* const target = TrueCondition(pod, "DisruptionTarget");
  if (target != nullptr) return target;
  const text::Json* const ready = FindCondition(pod, "Ready");
  return ready != nullptr && text::GetString(*ready, {"reason"}) == "Evict" ? ready : nullptr;
}

std::optional<Disruption> DisruptionOf(const text::Json& pod) {
  const text::Json* const target = DisruptionCondition(pod);
  if (target == nullptr || (!IsDeleting(pod) && Phase(pod) != "Failed")) return std::nullopt;
  Disruption out;
  out.reason = text::GetString(*target, {"reason"});
  out.message = text::GetString(*target, {"message"});
  out.at = GetTime(*target, {"lastTransitionTime"});
  for (const ContainerStatus& status : ContainerStatuses(pod)) {
    if (status.name != kContainerName || !status.terminated || !out.at) continue;
    if (status.terminated->finished && *status.terminated->finished < *out.at) return std::nullopt;
  }
  return out;
}

std::string DescribeDisruption(const Disruption& disruption) {
  // Kubernetes' reasons, including those of versions before 1.26.
  static constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"EvictionByEvictionAPI", "was evicted"},
      {"PreemptionByScheduler", "was preempted"},
      {"PreemptionByKubeScheduler", "was preempted"},
      {"DeletionByTaintManager", "was evicted from its node"},
      {"DeletionByPodGC", "was lost with its node"},
      {"TerminationByKubelet", "was ended by its node"},
      {"Evict", "was evicted by its scheduler"},
  };
  std::string text = "was disrupted";
  for (const auto& [reason, words] : kWords) {
    if (disruption.reason == reason) text = words;
  }
  const std::string_view detail =
      disruption.message.empty() ? disruption.reason : disruption.message;
  return detail.empty() ? text : fmt::format("{} ({})", text, detail);
}

std::vector<ContainerStatus> ContainerStatuses(const text::Json& pod) {
  return StatusesAt(pod, "containerStatuses");
}

std::vector<ContainerStatus> InitContainerStatuses(const text::Json& pod) {
  return StatusesAt(pod, "initContainerStatuses");
}

bool IsSidecar(const text::Json& pod, std::string_view init_container) {
  const text::Json* const container =
      text::ItemNamed(pod, {"spec", "initContainers"}, init_container);
  return container != nullptr && text::GetString(*container, {"restartPolicy"}) == "Always";
}

std::optional<int> ExitCodeOf(const text::Json& pod, std::string_view container) {
  for (const ContainerStatus& status : ContainerStatuses(pod)) {
    if (status.name == container && status.terminated) return status.terminated->exit_code;
  }
  return std::nullopt;
}

int RestartCount(const text::Json& pod) {
  int total = 0;
  for (const ContainerStatus& status : ContainerStatuses(pod)) total += status.restart_count;
  for (const ContainerStatus& status : InitContainerStatuses(pod)) total += status.restart_count;
  return total;
}

ResourceRequest& ResourceRequest::operator+=(const ResourceRequest& other) {
  gpus += other.gpus;
  cpu_milli += other.cpu_milli;
  memory_bytes += other.memory_bytes;
  for (const auto& [resource, amount] : other.devices) devices[resource] += amount;
  return *this;
}

void ResourceRequest::RaiseTo(const ResourceRequest& other) {
  gpus = std::max(gpus, other.gpus);
  cpu_milli = std::max(cpu_milli, other.cpu_milli);
  memory_bytes = std::max(memory_bytes, other.memory_bytes);
  for (const auto& [resource, amount] : other.devices) {
    int64_t& own = devices[resource];
    own = std::max(own, amount);
  }
}

ResourceRequest PodRequest(const text::Json& pod) {
  ResourceRequest running;  // containers and sidecars
  ResourceRequest sidecars;
  ResourceRequest starting;  // the most that any init container needs, with the sidecars before it
  for (const text::Json& container : text::Items(pod, {"spec", "containers"}))
    running += ContainerRequest(container);
  for (const text::Json& container : text::Items(pod, {"spec", "initContainers"})) {
    ResourceRequest needed = ContainerRequest(container);
    const bool is_sidecar = text::GetString(container, {"restartPolicy"}) == "Always";
    if (is_sidecar) {
      running += needed;
      sidecars += needed;
      needed = sidecars;
    } else {
      needed += sidecars;
    }
    starting.RaiseTo(needed);
  }
  running.RaiseTo(starting);
  ResourceRequest overhead;
  AddAmounts(text::FindObject(pod, {"spec", "overhead"}), overhead);
  running += overhead;
  return running;
}

const text::Json* MainContainer(const text::Json& pod) {
  const text::Array& containers = text::Items(pod, {"spec", "containers"});
  if (containers.empty()) return nullptr;
  const text::Json* const named = text::ItemNamed(pod, {"spec", "containers"}, kContainerName);
  return named != nullptr ? named : &containers.front();
}

text::Json* MainContainer(text::Json& pod) {
  return const_cast<text::Json*>(MainContainer(std::as_const(pod)));
}

bool IsOfTraining(const text::Json& pod, const ContainerStatus& status) {
  const text::Json* const main = MainContainer(pod);
  return main == nullptr || text::GetString(*main, {"name"}) == status.name;
}

std::optional<ContainerStatus> StatusOfTraining(const text::Json& pod) {
  for (const ContainerStatus& status : ContainerStatuses(pod)) {
    if (IsOfTraining(pod, status)) return status;
  }
  return std::nullopt;
}

std::optional<mode_t> ParseUmask(std::string_view text) {
  mode_t mask = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, mask, 8);
  if (error != std::errc() || stop != end || mask > 0777) return std::nullopt;
  return mask;
}

base::Environment SubmittedEnvironment(const text::Json& object) {
  base::Environment environment;
  const auto json = text::ParseJson(Annotation(object, kEnvironmentAnnotation));
  if (!json || !json->is_object()) return environment;
  for (const auto& entry : json->get_object()) {
    if (entry.value().is_string()) {
      environment.Set(std::string(entry.key()), std::string(entry.value().get_string()));
    }
  }
  return environment;
}

int64_t SumOfLimits(const text::Json& pod, std::string_view resource) {
  int64_t total = 0;
  for (const text::Json& container : text::Items(pod, {"spec", "containers"})) {
    if (const text::Json* const limit = text::Find(container, {"resources", "limits", resource})) {
      total += AmountOf(resource, *limit);
    }
  }
  return total;
}

}  // namespace api
