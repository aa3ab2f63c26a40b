#include "arena/jobs/absent_pods.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/job/failure_cause.h"
#include "api/job/pytorch_job.h"
#include "api/kinds.h"
#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "base/log.h"
#include "base/strings.h"

namespace arena {
namespace {

// The job's events, the latest first; of one reason unless it is "".
std::vector<text::Json> EventsOfJob(cluster::Client& client, const TrainingJob& job,
                                    std::string_view reason) {
  cluster::ListOptions options;
  options.namespace_name = job.summary.namespace_name;
  options.field_selector =
      fmt::format("involvedObject.kind={},involvedObject.name={},involvedObject.uid={}",
                  api::kPyTorchJobs.kind, job.summary.name, job.summary.uid);
  if (!reason.empty()) options.field_selector += fmt::format(",reason={}", reason);
  auto events = client.List(api::kEvents, options);
  if (!events) {
    base::LogDebug("why pods are missing is not known: {}", events.error().message);
    return {};
  }
  const auto last = [](const text::Json& event) {
    return std::pair(
        api::ReadEvent(event).last.value_or(base::Time{}),
        base::ParseInt(text::GetString(event, {"metadata", "resourceVersion"})).value_or(0));
  };
  std::stable_sort(events->items.begin(), events->items.end(),
                   [&](const text::Json& a, const text::Json& b) { return last(a) > last(b); });
  return std::move(events->items);
}

std::vector<std::string> MessagesOf(cluster::Client& client, const TrainingJob& job,
                                    std::string_view reason) {
  std::vector<std::string> messages;
  for (const text::Json& event : EventsOfJob(client, job, reason)) {
    messages.emplace_back(text::GetString(event, {"message"}));
  }
  return messages;
}

// What stands between the two in the text; nullopt if they are not in it.
std::optional<std::string_view> Between(std::string_view text, std::string_view before,
                                        std::string_view after) {
  const size_t begin = text.find(before);
  if (begin == std::string_view::npos) return std::nullopt;
  text.remove_prefix(begin + before.size());
  const size_t end = text.find(after);
  return end == std::string_view::npos ? std::nullopt : std::optional(text.substr(0, end));
}

// Workers wait for the name of rank 0, which a Service that selects other pods does not have.
void AddServiceInTheWay(cluster::Client& client, TrainingJob& job) {
  for (const std::string& message : MessagesOf(client, job, "FailedCreateService")) {
    if (message.find("object is being deleted: ") != std::string::npos) continue;
    const auto name = Between(message, "services \"", "\" already exists");
    if (!name) continue;
    // The event outlives what it tells of, such as a service of the job's predecessor.
    const auto service = client.Get(api::kServices, job.summary.namespace_name, *name);
    if (!service || api::ControllerUid(*service) == job.summary.uid) return;
    job.summary.reason = fmt::format(
        "service {} is needed, but a service that is not this job's has that name", *name);
    return;
  }
}

void AddPodInTheWay(cluster::Client& client, TrainingJob& job) {
  for (const std::string& message : MessagesOf(client, job, "FailedCreatePod")) {
    // It is the job's own, which its successor waits for.
    if (message.find("object is being deleted: ") != std::string::npos) continue;
    const auto name = Between(message, "pods \"", "\" already exists");
    if (!name || job.Pod(*name) != nullptr) continue;
    job.summary.reason =
        fmt::format("pod {} is needed, but a pod that is not this job's has that name", *name);
    return;
  }
}

// A pod as its kubelet reported it, of which only the name and the exit code are known.
text::Json EndedPod(const api::PyTorchJob& job, std::string_view type, int index, int64_t code,
                    std::string_view reason) {
  text::Json container = text::Object{{"name", api::kContainerName}};
  if (job.nproc_per_node) {
    container.as_object()["env"] =
        text::Array{text::Object{{"name", "PET_NPROC_PER_NODE"}, {"value", *job.nproc_per_node}}};
  }
  return text::Object{
      {"metadata",
       text::Object{{"name", api::ReplicaName(job.name, type, index)},
                    {"labels", text::Object{{api::kReplicaTypeLabel, base::ToLower(type)},
                                            {api::kReplicaIndexLabel, std::to_string(index)}}}}},
      {"spec", text::Object{{"containers", text::Array{std::move(container)}}}},
      {"status",
       text::Object{
           {"phase", "Failed"},
           {"containerStatuses",
            text::Array{text::Object{
                {"name", api::kContainerName},
                {"state", text::Object{{"terminated", text::Object{{"exitCode", code},
                                                                   {"reason", reason}}}}}}}}}}};
}

constexpr std::string_view kExitedWith = " exited with code ";

// Of "Pod: default.j-worker-0 exited with code 3".
std::optional<std::string_view> PodThatExited(const api::PyTorchJob& job,
                                              std::string_view message) {
  return Between(message, fmt::format("Pod: {}.", job.namespace_name), kExitedWith);
}

std::string DescribeExit(const api::PyTorchJob& job, std::string_view message,
                         std::string_view reason = "") {
  const auto name = PodThatExited(job, message);
  if (!name) return "";
  const auto code = base::ParseInt(message.substr(message.rfind(' ') + 1));
  if (!code || *code == 0) return "";
  const bool has_master = job.Master() != nullptr;
  for (const auto& [type, spec] : job.replica_specs) {
    const auto index = base::ParseInt(name->substr(name->rfind('-') + 1));
    if (!index || *name != api::ReplicaName(job.name, type, static_cast<int>(*index))) continue;
    const text::Json pod = EndedPod(job, type, static_cast<int>(*index), *code, reason);
    return api::FindFirstFailure({&pod}, has_master).text;
  }
  return "";
}

// Whether the message of Failed is one of Kubeflow's that name no pod.
bool IsKubeflowsAlone(std::string_view message) {
  return message.ends_with(" replica(s) failed.") || message.ends_with(" specified backoff limit");
}

void AddExit(cluster::Client& client, const api::PyTorchJob& parsed, TrainingJob& job) {
  for (const std::string& message : MessagesOf(client, job, "ExitedWithCode")) {
    std::string text = DescribeExit(parsed, message);
    if (text.empty()) continue;
    job.summary.reason = std::move(text);
    job.summary.first_failure = api::ReadFailure(job.summary.reason);
    return;
  }
}

// Whether a pod of that name has ended, or its program has before it was started again in it.
bool HasEndOfItsOwn(const TrainingJob& job, std::string_view name) {
  const text::Json* const pod = job.Pod(name);
  if (pod == nullptr) return false;
  const auto program = api::StatusOfTraining(*pod);
  return api::IsPodFinished(*pod) || (program && (program->restart_count > 0 ||
                                                  program->terminated || program->last_terminated));
}

// Whether an event of the same time says so of the pod in "Pod: default.j-worker-0 exited with code
// 137".
bool HadTooLittleMemory(const std::vector<text::Json>& events, const text::Json& exit) {
  const std::string_view said = text::GetString(exit, {"message"});
  const std::string_view of_pod = said.substr(0, said.find(kExitedWith));
  const std::string_view pod = of_pod.substr(of_pod.rfind('.') + 1);
  return std::any_of(events.begin(), events.end(), [&](const text::Json& event) {
    return text::GetString(event, {"reason"}) == api::kOomKilled &&
           api::ReadEvent(event).last == api::ReadEvent(exit).last &&
           text::GetString(event, {"message"})
               .starts_with(api::ContainerErrorPrefix(pod, api::kContainerName));
  });
}

// Of a pod that was replaced nothing is left but events: its successor waits, or runs.
void AddReplacedPod(cluster::Client& client, const api::PyTorchJob& parsed, TrainingJob& job) {
  const std::vector<text::Json> events = EventsOfJob(client, job, "");
  for (const text::Json& event : events) {
    // The end of pods that `suspend` removed.
    const auto time = api::ReadEvent(event).last;
    if (time && job.summary.start_time && *time < *job.summary.start_time) continue;
    const std::string_view reason = text::GetString(event, {"reason"});
    const std::string_view message = text::GetString(event, {"message"});
    std::string text;
    if (reason == "NodeLost" || reason == "Disrupted") text = api::OneLine(message);
    if (reason == "ExitedWithCode" &&
        !HasEndOfItsOwn(job, PodThatExited(parsed, message).value_or(""))) {
      text =
          DescribeExit(parsed, message, HadTooLittleMemory(events, event) ? api::kOomKilled : "");
    }
    if (text.empty()) continue;
    job.summary.reason = fmt::format("{}, and was replaced", text);
    return;
  }
}

}  // namespace

void AddWordsOfReplacedPods(cluster::Client& client, TrainingJob& job) {
  const api::TrainingSummary& summary = job.summary;
  const bool waits = summary.status == "PENDING";
  if (job.hidden_pods || !summary.reason.empty() || (!waits && summary.status != "RUNNING")) return;
  // What the successor waits for counts more.
  const bool is_known =
      std::any_of(summary.instances.begin(), summary.instances.end(),
                  [](const api::InstanceSummary& each) { return !each.waits.empty(); });
  if (waits && is_known) return;
  if (const auto parsed = api::ParsePyTorchJob(job.job)) AddReplacedPod(client, *parsed, job);
}

void AddWordsOfAbsentPods(cluster::Client& client, TrainingJob& job) {
  const api::TrainingSummary& summary = job.summary;
  const bool may_wait =
      summary.reason.empty() && (summary.status == "RUNNING" || summary.status == "PENDING");
  const bool has_failed = summary.status == "FAILED" && summary.first_failure.instance.empty() &&
                          IsKubeflowsAlone(summary.reason);
  if (!may_wait && !has_failed) return;
  const auto parsed = api::ParsePyTorchJob(job.job);
  if (!parsed) return;
  if (has_failed) return AddExit(client, *parsed, job);
  const bool lacks_pods =
      !job.hidden_pods && static_cast<int64_t>(job.pods.size()) < parsed->TotalReplicas();
  if (lacks_pods) AddPodInTheWay(client, job);
  if (job.summary.reason.empty() && summary.status == "PENDING") AddServiceInTheWay(client, job);
}

}  // namespace arena
