#include "api/job/training_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "api/gpus.h"
#include "api/job/failure_cause.h"
#include "api/job/replica.h"
#include "api/job/wait_for.h"
#include "api/names.h"
#include "api/object.h"
#include "api/pod.h"
#include "api/stall.h"
#include "api/status_posts.h"
#include "base/strings.h"

namespace api {
namespace {

constexpr std::string_view kNotAvailable = "N/A";
constexpr std::string_view kOldGpuResource = "alpha.kubernetes.io/nvidia-gpu";
constexpr std::string_view kSharedGpuResource = "aliyun.com/gpu";
// Conditions by precedence, and the words for them (compat/arena.md 4).
constexpr std::pair<std::string_view, std::string_view> kStatusOrder[] = {
    {"Succeeded", "SUCCEEDED"}, {"Failed", "FAILED"},       {"Running", "RUNNING"},
    {"Queuing", "QUEUING"},     {"Suspended", "SUSPENDED"},
};

bool IsPending(const text::Json* pod) { return Phase(*pod) == "Pending"; }

bool IsGoing(const text::Json* pod) { return IsDeleting(*pod) && !IsPodFinished(*pod); }

// Whether the master, on which the job depends, is being deleted; without a master, whether all
// pods are.
bool AreGoing(const std::vector<const text::Json*>& pods) {
  const auto master = std::find_if(pods.begin(), pods.end(),
                                   [](const text::Json* pod) { return IsMasterPod(*pod); });
  if (master != pods.end()) return IsGoing(*master);
  return !pods.empty() && std::all_of(pods.begin(), pods.end(), IsGoing);
}

std::string_view StatusOf(const text::Json& job, const std::vector<const text::Json*>& pods) {
  for (const auto& [type, word] : kStatusOrder) {
    if (TrueCondition(job, type) == nullptr) continue;
    if (type == "Suspended" && !AwaitedBy(job).empty()) return "PENDING";
    const bool is_waiting =
        type == "Running" && (std::any_of(pods.begin(), pods.end(), IsPending) || AreGoing(pods));
    return is_waiting ? "PENDING" : word;
  }
  return "PENDING";
}

base::Time CreatedAt(const text::Json& object) {
  return CreationTime(object).value_or(base::Time{});
}

// The newest master pod, preferring one that is past Pending.
const text::Json* ChiefOf(const std::vector<const text::Json*>& pods) {
  const text::Json* chief = nullptr;
  for (const text::Json* const pod : pods) {
    if (!IsMasterPod(*pod)) continue;
    const auto key = [](const text::Json& p) {
      return std::pair(Phase(p) != "Pending", CreatedAt(p));
    };
    if (chief == nullptr || key(*pod) > key(*chief)) chief = pod;
  }
  return chief;
}

std::optional<base::Time> LatestTransition(const text::Json& pod) {
  std::optional<base::Time> latest;
  for (const text::Json& condition : text::Items(pod, {"status", "conditions"})) {
    latest = std::max(latest, GetTime(condition, {"lastTransitionTime"}));
  }
  return latest;
}

base::Duration DurationOf(const TrainingSummary& summary, const text::Json* chief, base::Time now) {
  if (!summary.start_time) return {};
  if (summary.completion_time) return *summary.completion_time - *summary.start_time;
  if (summary.status == "FAILED" && chief != nullptr) {
    if (const auto latest = LatestTransition(*chief)) return *latest - summary.created;
  }
  return now - *summary.start_time;
}

std::string PriorityOf(const text::Json& job) {
  const text::Object* const specs = text::FindObject(job, {"spec", "pytorchReplicaSpecs"});
  if (specs == nullptr || specs->empty()) return std::string(kNotAvailable);
  const text::Json* const master = specs->if_contains(kMaster);
  const text::Json& first = master != nullptr ? *master : specs->begin()->value();
  const std::string_view name = text::GetString(first, {"template", "spec", "priorityClassName"});
  return std::string(name.empty() ? kNotAvailable : name);
}

int64_t GpusOf(const text::Json& pod) {
  const int64_t gpus = SumOfGpuLimits(pod);
  return gpus != 0 ? gpus : SumOfLimits(pod, kOldGpuResource);
}

int64_t RequestedGpus(const std::vector<const text::Json*>& pods) {
  for (const text::Json* const pod : pods) {
    const auto written = base::ParseInt(Annotation(*pod, kRequestGpusAnnotation));
    if (!written) continue;
    if (*written > 0) return *written;
    break;
  }
  int64_t total = 0;
  for (const text::Json* const pod : pods) total += GpusOf(*pod);
  return total;
}

int64_t AllocatedGpus(const std::vector<const text::Json*>& pods) {
  int64_t total = 0;
  for (const text::Json* const pod : pods) {
    const bool is_started = !text::GetString(*pod, {"status", "startTime"}).empty();
    if (is_started && !IsPodFinished(*pod) && !IsDeleting(*pod)) total += GpusOf(*pod);
  }
  return total;
}

// From the first start of a container to its last end, or to now while it may continue.
base::Duration AgeOf(const text::Json& pod, base::Time now) {
  if (Phase(pod) == "Pending") return now - CreationTime(pod).value_or(now);
  std::optional<base::Time> start;
  std::optional<base::Time> end;
  for (const ContainerStatus& status : ContainerStatuses(pod)) {
    std::optional<base::Time> started = status.running_since;
    if (status.terminated) {
      started = status.terminated->started;
      end = std::max(end, status.terminated->finished);
    }
    if (started && (!start || *started < *start)) start = started;
  }
  if (!start) return now - CreationTime(pod).value_or(now);
  return (IsPodFinished(pod) && end ? *end : now) - *start;
}

// Why the pod does not run; "" when its status does not say.
std::string WhyWaiting(const text::Json& pod) {
  const text::Json* const scheduled = FindCondition(pod, "PodScheduled");
  if (scheduled != nullptr && text::GetString(*scheduled, {"status"}) == "False") {
    const std::string_view message = text::GetString(*scheduled, {"message"});
    return OneLine(message.empty() ? text::GetString(*scheduled, {"reason"}) : message);
  }
  if (std::string failure = InitFailure(pod); !failure.empty()) return failure;
  for (const auto& statuses : {InitContainerStatuses(pod), ContainerStatuses(pod)}) {
    for (const ContainerStatus& status : statuses) {
      if (status.waiting_message.empty()) continue;
      return status.waiting_reason.empty()
                 ? OneLine(status.waiting_message)
                 : fmt::format("{}: {}", status.waiting_reason, OneLine(status.waiting_message));
    }
  }
  return "";
}

}  // namespace

std::string DescribeLastEnd(const Terminated& ended) {
  return ended.reason.empty() || ended.reason == "Error"
             ? fmt::format("exit code {}", ended.exit_code)
             : std::string(ended.reason);
}

namespace {

// The previous end of the container that was restarted most.
std::string LastEndOf(const text::Json& pod) {
  int most = 0;
  std::string text;
  for (const auto& statuses : {ContainerStatuses(pod), InitContainerStatuses(pod)}) {
    for (const ContainerStatus& status : statuses) {
      if (!status.last_terminated || status.restart_count <= most) continue;
      most = status.restart_count;
      text = DescribeLastEnd(*status.last_terminated);
    }
  }
  return text;
}

std::string WaitsOf(const text::Json& pod) {
  if (IsPodFinished(pod) || IsDeleting(pod)) return "";
  if (std::string why = WhyWaiting(pod); !why.empty()) return why;
  for (const ContainerStatus& status : InitContainerStatuses(pod)) {
    if (status.is_running && !status.has_started) {
      return fmt::format("its init container {} has not ended", status.name);
    }
  }
  return "";
}

InstanceSummary SummarizePod(const text::Json& pod, bool is_chief, base::Time now) {
  InstanceSummary out;
  const bool is_pending = Phase(pod) == "Pending";
  out.name = Name(pod);
  out.status = PodStatusText(pod);
  out.node = is_pending ? kNotAvailable : NodeName(pod);
  out.node_ip = is_pending ? kNotAvailable : text::GetString(pod, {"status", "hostIP"});
  out.pod_ip = text::GetString(pod, {"status", "podIP"});
  out.is_chief = is_chief;
  out.requested_gpus =
      static_cast<double>(SumOfGpuLimits(pod) + SumOfLimits(pod, kSharedGpuResource));
  out.created = CreatedAt(pod);
  out.age = AgeOf(pod, now);
  out.restarts = RestartCount(pod);
  out.last_end = LastEndOf(pod);
  out.waits = WaitsOf(pod);
  return out;
}

std::string DescribeEnd(const Terminated& ended) {
  return ended.reason == kOomKilled ? "was killed by SIGKILL (OOMKilled: out of memory)"
                                    : fmt::format("exited with code {}", ended.exit_code);
}

}  // namespace

std::string DescribeRestart(const text::Json& pod, const ContainerStatus& status, int64_t restart) {
  const std::string whose =
      IsOfTraining(pod, status) ? "" : fmt::format("the container {} of ", status.name);
  return fmt::format("{}{} {}, starts again (restart {})", whose, Name(pod),
                     DescribeEnd(*status.last_terminated), restart);
}

namespace {

// A pod of a running job whose program, or else whose sidecar, has ended and waits to be restarted;
// "" if all run.
std::string WhyRestarting(const std::vector<const text::Json*>& pods) {
  std::string of_sidecar;
  for (const text::Json* const pod : pods) {
    if (IsPodFinished(*pod) || IsDeleting(*pod)) continue;
    for (const ContainerStatus& status : ContainerStatuses(*pod)) {
      if (!status.is_waiting || !status.last_terminated) continue;
      std::string text = DescribeRestart(*pod, status, status.restart_count + 1);
      if (IsOfTraining(*pod, status)) return text;
      if (of_sidecar.empty()) of_sidecar = std::move(text);
    }
  }
  return of_sidecar;
}

// A pod that does not end although its program has, because a sidecar runs on; "" if there is none
// that matters: only success of rank 0 ends the job.
std::string WhyNotEnding(const text::Json& job, const std::vector<const text::Json*>& pods) {
  const bool has_master = text::Find(job, {"spec", "pytorchReplicaSpecs", kMaster}) != nullptr;
  for (const text::Json* const pod : pods) {
    if (IsPodFinished(*pod) || IsDeleting(*pod)) continue;
    const ContainerStatus* ended = nullptr;
    const ContainerStatus* running = nullptr;
    const std::vector<ContainerStatus> statuses = ContainerStatuses(*pod);
    for (const ContainerStatus& status : statuses) {
      if (status.is_running) running = &status;
      if (status.terminated && IsOfTraining(*pod, status)) ended = &status;
    }
    if (ended == nullptr || running == nullptr) continue;
    if (ended->terminated->exit_code == 0 && NodeRank(*pod, has_master) != 0) continue;
    return fmt::format("{} {}, but its container {} runs on: the pod does not end", Name(*pod),
                       DescribeEnd(*ended->terminated), running->name);
  }
  return "";
}

// "prepare, base"; "" for a job that waits for none.
std::string NamesOfAwaited(const text::Json& job) {
  std::string names;
  for (const AwaitedJob& awaited : AwaitedBy(job)) {
    names += (names.empty() ? "" : ", ") + awaited.name;
  }
  return names;
}

// An operator takes over a job at once, and a scheduler looks at a pod at once: none does so if
// this time has passed.
constexpr std::chrono::seconds kUntaken{10};

// Kubernetes' scheduler says of each pod that it has seen why it has no node.
std::string WhyUnseen(const text::Json& pod, base::Time now) {
  const bool is_unseen = Phase(pod) == "Pending" && NodeName(pod).empty() &&
                         FindCondition(pod, "PodScheduled") == nullptr &&
                         now - CreationTime(pod).value_or(now) > kUntaken;
  if (!is_unseen) return "";
  const std::string_view name = text::GetString(pod, {"spec", "schedulerName"});
  return fmt::format("no scheduler has looked at {}: see whether {} runs", Name(pod),
                     name.empty() ? "one" : name);
}

std::string WhyPending(const text::Json& job, const std::vector<const text::Json*>& pods,
                       base::Time now) {
  const bool is_taken = !text::Items(job, {"status", "conditions"}).empty() || !pods.empty();
  const text::Json* const suspended = TrueCondition(job, "Suspended");
  const std::string_view queue = Label(job, kKueueQueueLabel);
  if (suspended != nullptr && !queue.empty()) {
    return fmt::format("waits for Kueue to admit it, in queue {}", queue);
  }
  // The condition Suspended follows a moment after such a job is created.
  if (const std::string awaited = NamesOfAwaited(job); !awaited.empty()) {
    return fmt::format("waits for {} to succeed", awaited);
  }
  // After a resume, the condition follows a moment later.
  const bool is_to_stay = text::GetBool(job, {"spec", "runPolicy", "suspend"}).value_or(true);
  if (suspended != nullptr && is_to_stay) return OneLine(text::GetString(*suspended, {"message"}));
  const std::string_view manager = text::GetString(job, {"spec", "runPolicy", "managedBy"});
  if (!manager.empty() && manager != kManagedByUs) return fmt::format("managed by {}", manager);
  if (const text::Json* const created = TrueCondition(job, "Created")) {
    const std::string_view message = text::GetString(*created, {"message"});
    if (const size_t mark = message.find(kRefusedMark); mark != std::string_view::npos) {
      return OneLine(message.substr(mark + kRefusedMark.size()));
    }
  }
  if (!is_taken && now - CreatedAt(job) > kUntaken) {
    return "no operator has taken it: see whether one runs (`muster install` brings muster's)";
  }
  std::vector<const text::Json*> waiting;
  for (const text::Json* const pod : pods) {
    if (!IsPodFinished(*pod) && !IsDeleting(*pod)) waiting.push_back(pod);
  }
  std::stable_sort(waiting.begin(), waiting.end(), [](const text::Json* a, const text::Json* b) {
    return CreatedAt(*a) > CreatedAt(*b);
  });
  for (const text::Json* const pod : waiting) {
    if (std::string why = WhyWaiting(*pod); !why.empty()) return why;
    if (std::string why = WhyUnseen(*pod, now); !why.empty()) return why;
  }
  const text::Json* const restarting = TrueCondition(job, "Restarting");
  if (restarting != nullptr) return OneLine(text::GetString(*restarting, {"message"}));
  const auto going = std::find_if(pods.begin(), pods.end(), IsGoing);
  return going != pods.end() ? fmt::format("{} is being deleted", Name(**going)) : "";
}

// The pods explain a failure of the job itself. A deadline, a stopped cluster and the like are
// their own explanation, and the pods' ends only follow from them.
std::string WhyFailed(const text::Json& job, const FirstFailure& of_pods) {
  const text::Json* const failed = TrueCondition(job, "Failed");
  if (failed == nullptr) return "";
  const std::string_view message = text::GetString(*failed, {"message"});
  const bool is_by_pods = text::GetString(*failed, {"reason"}) == "PyTorchJobFailed" &&
                          message.find("longer than specified deadline") == std::string_view::npos;
  if (const std::string_view recorded =
          text::GetString(job, {"metadata", "annotations", kFailureAnnotation});
      is_by_pods && !recorded.empty()) {
    return OneLine(recorded);
  }
  if (is_by_pods && !of_pods.text.empty()) return of_pods.text;
  return OneLine(message.substr(0, message.find(kLastLinesMark)));
}

void SummarizeFailure(const text::Json& job, const std::vector<const text::Json*>& pods,
                      TrainingSummary& out) {
  const bool has_master = text::Find(job, {"spec", "pytorchReplicaSpecs", kMaster}) != nullptr;
  FirstFailure of_pods = FindFirstFailure(pods, has_master);
  out.reason = WhyFailed(job, of_pods);
  out.first_failure = ReadFailure(out.reason);
  if (out.first_failure.instance.empty()) return;
  out.last_lines = std::move(of_pods.last_lines);
  if (!out.last_lines.empty()) return;
  const std::string_view message = text::GetString(*TrueCondition(job, "Failed"), {"message"});
  if (const size_t mark = message.find(kLastLinesMark); mark != std::string_view::npos) {
    out.last_lines = message.substr(mark + kLastLinesMark.size());
  }
}

}  // namespace

std::string NamesOfFinalizers(const text::Json& job) {
  std::string names;
  for (const text::Json& name : text::Items(job, {"metadata", "finalizers"})) {
    const std::string_view finalizer = text::GetString(name, {});
    if (finalizer == "foregroundDeletion" || finalizer == "orphan") continue;  // Kubernetes' own
    names += fmt::format("{}{}", names.empty() ? "" : ", ", finalizer);
  }
  return names;
}

std::string WhyStillThere(const text::Json& job) {
  const std::string finalizers = IsDeleting(job) ? NamesOfFinalizers(job) : "";
  if (finalizers.empty()) return "";
  return fmt::format("it is being deleted, and goes when its finalizers are removed: {}",
                     finalizers);
}

bool IsJobFinished(const text::Json& job) {
  return TrueCondition(job, "Succeeded") != nullptr || TrueCondition(job, "Failed") != nullptr;
}

TrainingSummary Outline(const text::Json& job, const std::vector<const text::Json*>& pods,
                        base::Time now) {
  TrainingSummary out;
  out.uid = Uid(job);
  out.name = Name(job);
  out.namespace_name = Namespace(job);
  out.status = StatusOf(job, pods);
  out.created = CreatedAt(job);
  out.start_time = GetTime(job, {"status", "startTime"});
  out.completion_time = GetTime(job, {"status", "completionTime"});
  const text::Json* const chief = ChiefOf(pods);
  out.duration = DurationOf(out, chief, now);
  out.priority = PriorityOf(job);
  out.chief_host_ip = kNotAvailable;
  if (chief != nullptr) {
    out.chief_name = Name(*chief);
    const std::string_view host_ip = text::GetString(*chief, {"status", "hostIP"});
    if (Phase(*chief) != "Pending" && !host_ip.empty()) out.chief_host_ip = host_ip;
  }
  out.requested_gpus = static_cast<double>(RequestedGpus(pods));
  out.allocated_gpus = static_cast<double>(AllocatedGpus(pods));
  return out;
}

TrainingSummary Summarize(const text::Json& job, const std::vector<const text::Json*>& pods,
                          base::Time now) {
  TrainingSummary out = Outline(job, pods, now);
  const text::Json* const chief = ChiefOf(pods);
  if (out.status == "FAILED") SummarizeFailure(job, pods, out);
  if (IsWaiting(out.status)) out.reason = WhyPending(job, pods, now);
  if (out.status == "RUNNING") out.reason = StallOf(job, now);
  if (out.status == "RUNNING" && out.reason.empty()) out.reason = WhyRestarting(pods);
  if (out.status == "RUNNING" && out.reason.empty()) out.reason = WhyNotEnding(job, pods);
  if (IsWaiting(out.status) || out.status == "RUNNING") {
    if (std::string why = WhyStillThere(job); !why.empty()) out.reason = std::move(why);
  }

  std::vector<const text::Json*> ordered = pods;
  const std::string& failed = out.first_failure.instance;
  const auto place = [&failed](const text::Json& pod) {
    return std::tuple(Name(pod) != failed, NodeRank(pod, true), Name(pod));
  };
  std::stable_sort(ordered.begin(), ordered.end(),
                   [&](const text::Json* a, const text::Json* b) { return place(*a) < place(*b); });
  for (const text::Json* const pod : ordered) {
    out.instances.push_back(SummarizePod(*pod, pod == chief, now));
  }
  return out;
}

bool IsPodOfJob(const text::Json& pod, const text::Json& job) {
  const std::string_view name = Name(job);
  if (name.empty() || Namespace(pod) != Namespace(job)) return false;
  if (Label(pod, "release") != name && Label(pod, kJobNameLabel) != name) return false;
  const bool is_old = Label(pod, "group-name") == "kubeflow.org";
  if (!is_old && Label(pod, kOperatorNameLabel) != kControllerName) return false;
  // A pod of an earlier job of the same name may still be terminating, and anybody may have made a
  // pod with the job's labels.
  return Uid(job).empty() || ControllerUid(pod) == Uid(job);
}

const text::Projection& SummarizedParts() {
  static const text::Projection kParts{{"apiVersion"},
                                       {"kind"},
                                       {"metadata", "name"},
                                       {"metadata", "namespace"},
                                       {"metadata", "uid"},
                                       {"metadata", "creationTimestamp"},
                                       {"metadata", "deletionTimestamp"},
                                       {"metadata", "labels"},
                                       {"metadata", "ownerReferences"},
                                       {"metadata", "annotations", kRequestGpusAnnotation},
                                       {"spec", "nodeName"},
                                       {"spec", "containers", "name"},
                                       {"spec", "containers", "resources", "limits"},
                                       {"spec", "initContainers", "name"},
                                       {"spec", "initContainers", "restartPolicy"},
                                       {"status", "phase"},
                                       {"status", "reason"},
                                       {"status", "message"},
                                       {"status", "startTime"},
                                       {"status", "hostIP"},
                                       {"status", "podIP"},
                                       {"status", "conditions", "type"},
                                       {"status", "conditions", "status"},
                                       {"status", "conditions", "reason"},
                                       {"status", "conditions", "message"},
                                       {"status", "conditions", "lastTransitionTime"},
                                       {"status", "containerStatuses", "name"},
                                       {"status", "containerStatuses", "ready"},
                                       {"status", "containerStatuses", "started"},
                                       {"status", "containerStatuses", "restartCount"},
                                       {"status", "containerStatuses", "state"},
                                       {"status", "containerStatuses", "lastState"},
                                       {"status", "initContainerStatuses", "name"},
                                       {"status", "initContainerStatuses", "ready"},
                                       {"status", "initContainerStatuses", "started"},
                                       {"status", "initContainerStatuses", "restartCount"},
                                       {"status", "initContainerStatuses", "state"},
                                       {"status", "initContainerStatuses", "lastState"}};
  return kParts;
}

const text::Projection& OutlinedParts() {
  static const text::Projection kParts{{"metadata", "name"},
                                       {"metadata", "namespace"},
                                       {"metadata", "creationTimestamp"},
                                       {"metadata", "deletionTimestamp"},
                                       {"metadata", "labels", "release"},
                                       {"metadata", "labels", "group-name"},
                                       {"metadata", "labels", kJobNameLabel},
                                       {"metadata", "labels", kOperatorNameLabel},
                                       {"metadata", "labels", kReplicaTypeLabel},
                                       {"metadata", "labels", kOldReplicaTypeLabel},
                                       {"metadata", "ownerReferences", "uid"},
                                       {"metadata", "ownerReferences", "controller"},
                                       {"metadata", "annotations", kRequestGpusAnnotation},
                                       {"spec", "containers", "resources", "limits"},
                                       {"status", "phase"},
                                       {"status", "startTime"},
                                       {"status", "hostIP"},
                                       {"status", "conditions", "lastTransitionTime"}};
  return kParts;
}

const text::Projection& SummarizedJobParts() {
  static const text::Projection kParts{
      {"apiVersion"},
      {"kind"},
      {"metadata", "name"},
      {"metadata", "namespace"},
      {"metadata", "uid"},
      {"metadata", "creationTimestamp"},
      {"metadata", "deletionTimestamp"},
      {"metadata", "finalizers"},
      {"metadata", "labels"},
      {"metadata", "annotations", kCreatedAnnotation},
      {"metadata", "annotations", kFailureAnnotation},
      {"metadata", "annotations", kProgressAnnotation},
      {"metadata", "annotations", kStallAnnotation},
      {"metadata", "annotations", kSubmittingAnnotation},
      {"metadata", "annotations", kWaitForAnnotation},
      {"spec", "nprocPerNode"},
      {"spec", "pytorchReplicaSpecs", "*", "replicas"},
      {"spec", "pytorchReplicaSpecs", "*", "template", "spec", "priorityClassName"},
      {"spec", "runPolicy", "managedBy"},
      {"spec", "runPolicy", "suspend"},
      {"status"}};
  return kParts;
}

const text::Projection* SummaryFormParts(const Resource& resource) {
  if (&resource == &kPods) return &SummarizedParts();
  if (&resource == &kPyTorchJobs) return &SummarizedJobParts();
  return nullptr;
}

}  // namespace api
