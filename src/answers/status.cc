#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "answers/finding.h"
#include "answers/past_states.h"
#include "answers/symptoms.h"
#include "answers/witness_line.h"
#include "base/clock.h"
#include "base/launcher_report.h"
#include "base/strings.h"

namespace answers {
namespace {

struct Known {
  std::string_view reason;   // without the marks ^ and $: it is compared as a whole
  std::string_view message;  // a pattern (rule.h); "" matches any message
  std::string_view kind, title;
  Advice advice;
  std::string_view advice_text;
  bool may_say_more = false;  // a rule may find a more precise class in the message
};

constexpr std::string_view kAgain = "Submit it again, from the last checkpoint.";
constexpr std::string_view kOtherNode =
    "Submit it again, from the last checkpoint; look at the node before it gets work.";
constexpr std::string_view kNotThere =
    "the pod refers to something that does not exist or does not fit";
constexpr std::string_view kMake =
    "Create what the message names: a Secret, a ConfigMap, a key of it.";
constexpr std::string_view kNoSandbox = "the node could not create the pod's container";
constexpr std::string_view kLookAtNode = "Try another node; have this one looked at.";
constexpr std::string_view kBrokenDevice =
    "The device or the file server has failed: look at it and at the node's log (dmesg); try "
    "another node.";
constexpr std::string_view kShort =
    "The message says what is short: ask for less, wait, or add nodes.";
constexpr std::string_view kNames =
    "The message says what the node lacks or refuses: a runtime, a device, a limit.";
constexpr std::string_view kQueue =
    "Wait for jobs of the queue to end, ask for less, or have its quota raised.";
constexpr std::string_view kImage =
    "Check the image's name and tag, and that this node's registry "
    "has it.";

constexpr auto kStatuses = std::to_array<Known>({
    {"OOMKilled", kNoMemoryAround, "host-out-of-memory",
     "the machine, or a limit around the job, had no memory left", Advice::kFixFirst,
     "Use less: smaller batches, fewer data loader workers. Or end what else needs the memory, or "
     "raise the limit of what muster runs in: a container, a batch job (--mem), a systemd unit."},
    {"OOMKilled", "", "host-out-of-memory", "the pod reached its memory limit", Advice::kFixFirst,
     "Give the job more memory (--memory), or use less: smaller batches, fewer data loader "
     "workers."},
    {"SystemOOM", "", "host-out-of-memory", "the node had no memory left", Advice::kRetryElsewhere,
     "Ask for the memory that the job needs (--memory), so that the node keeps it free."},
    {"Evicted", "low on resource: ephemeral", "disk-full",
     "the node's disk was nearly full, and the node evicted the pod", Advice::kFixFirst,
     "Ask for the ephemeral-storage that it writes: pods that use more than they ask for go first. "
     "Or write to a volume."},
    {"Evicted", "low on resource: memory", "evicted",
     "the node had too little memory left, and evicted the pod", Advice::kRetry,
     "Ask for the memory that it needs (--memory): pods that use more than they ask for go first. "
     "Submit it again, from the last checkpoint."},
    {"Evicted", "ephemeral", "disk-full", "the pod was evicted: it wrote more than the node allows",
     Advice::kFixFirst, "Write to a volume, or ask for ephemeral-storage."},
    {"Evicted", "EmptyDir volume", "disk-full", "the pod was evicted: a volume of its own is full",
     Advice::kFixFirst, "Raise the volume's sizeLimit, or write elsewhere."},
    {"Evicted", "emptyDir", "disk-full", "the pod was evicted: a volume of its own is full",
     Advice::kFixFirst, "Raise the volume's sizeLimit, or write elsewhere."},
    {"Evicted", "", "evicted", "the node evicted the pod", Advice::kRetry, kAgain},
    {"MPIJobEvicted", "", "evicted", "the node evicted the pod", Advice::kRetry, kAgain},
    {"EvictionByEvictionAPI", "", "evicted", "somebody had the pod evicted (kubectl drain does)",
     Advice::kRetry, kAgain},
    {"Preempted", "", "preempted", "a job of higher priority took its place", Advice::kRetry,
     kAgain},
    {"PreemptionByScheduler", "", "preempted", "a job of higher priority took its place",
     Advice::kRetry, kAgain},
    {"Preempting", "", "preempted", "a job of higher priority took its place", Advice::kRetry,
     kAgain},
    {"EvictedDueToPreempted", "", "preempted", "a job of higher priority took its place",
     Advice::kRetry, kAgain},
    {"NodeLost", "", "node-lost", "the node went away", Advice::kRetryElsewhere, kOtherNode},
    {"NodeRebooted", "", "node-lost", "the machine was rebooted while it ran", Advice::kRetry,
     kAgain},
    {"ShimLost", "", "stopped",
     "the process that keeps the pod was killed, and its programs with it", Advice::kRetry,
     "Submit it again, from the last checkpoint. Who killed it is in the kernel's log (dmesg), if "
     "it was an oom-kill, else ask who ends processes here."},
    {"NodeShutdown", "", "node-lost", "the node was shut down", Advice::kRetryElsewhere,
     kOtherNode},
    {"Terminated", "shutdown", "node-lost", "the node was shut down", Advice::kRetryElsewhere,
     kOtherNode},
    {"TerminationByKubelet", "", "node-lost", "the node was shut down", Advice::kRetryElsewhere,
     kOtherNode},
    {"ContainerStatusUnknown", "", "node-lost", "the node lost track of the container",
     Advice::kRetryElsewhere, kOtherNode},
    {"DeletionByTaintManager", "", "node-lost", "the node is not ready, and its pods are deleted",
     Advice::kRetryElsewhere, kOtherNode},
    {"DeletionByPodGC", "", "node-lost", "the node went away", Advice::kRetryElsewhere, kOtherNode},
    {"TaintManagerEviction", "Marking for deletion", "node-lost",
     "the node is not ready, and its pods are deleted", Advice::kRetryElsewhere, kOtherNode},
    // of Kueue's workloads
    {"NodeFailures", "", "node-lost", "the node went away", Advice::kRetryElsewhere, kOtherNode},
    {"EvictedDueToNodeFailures", "", "node-lost", "the node went away", Advice::kRetryElsewhere,
     kOtherNode},
    {"MaximumExecutionTimeExceeded", "", "deadline", "it ran longer than it was allowed to",
     Advice::kFixFirst, "Allow more time, or save checkpoints and go on from the last one."},
    {"NodeNotReady", "", "node-lost", "the node is not ready", Advice::kRetryElsewhere, kOtherNode},
    {"DeadlineExceeded", "", "deadline", "it ran longer than it was allowed to", Advice::kFixFirst,
     "Allow more time (--running-timeout; of `run` --timeout), or save checkpoints and go on from "
     "the last one."},
    {"", "longer than specified deadline", "deadline", "it ran longer than it was allowed to",
     Advice::kFixFirst, "Allow more time, or save checkpoints and go on from the last one."},
    {"", " because it was stalled (--on-stall=stop)", "hang",
     "a rank that stood still kept the others waiting", Advice::kFixFirst,
     "Look at the line where that rank was. `muster stacks` shows all ranks while it lasts."},
    {"", ", which this one waited for, has failed", "awaited-job",
     "the job that it waited for has failed", Advice::kFixFirst,
     "Find out why that one failed; then submit both again."},
    {"", ", which this one waited for, was deleted", "awaited-job",
     "the job that it waited for was deleted", Advice::kFixFirst,
     "Submit it again, to wait for another job or for none."},
    {"Deleted", "", "stopped", "it was deleted before it had ended", Advice::kRetry, kAgain},
    {"ClusterStopped", "", "stopped", "the embedded cluster was stopped (`muster down`)",
     Advice::kRetry, kAgain},
    {"ErrImagePull", "", "image-pull", "the image could not be pulled", Advice::kFixFirst, kImage},
    {"ImagePullBackOff", "", "image-pull", "the image could not be pulled", Advice::kFixFirst,
     kImage},
    {"InvalidImageName", "", "image-pull", "the image has no valid name", Advice::kFixFirst,
     kImage},
    {"ErrImageNeverPull", "", "image-pull", "the image is not on the node, and may not be pulled",
     Advice::kFixFirst, kImage},
    {"BackOff", "Back-off pulling image", "image-pull", "the image could not be pulled",
     Advice::kFixFirst, kImage},
    {"Failed", "Error: ErrImagePull", "image-pull", "the image could not be pulled",
     Advice::kFixFirst, kImage},
    {"Failed", "Error: ImagePullBackOff", "image-pull", "the image could not be pulled",
     Advice::kFixFirst, kImage},
    {"Failed", "Failed to pull image", "image-pull", "the image could not be pulled",
     Advice::kFixFirst, kImage},
    {"CreateContainerConfigError", "", "configuration", kNotThere, Advice::kFixFirst, kMake},
    {"Failed", "Error: configmap \"*\" not found", "configuration", kNotThere, Advice::kFixFirst,
     kMake},
    {"Failed", "Error: secret \"*\" not found", "configuration", kNotThere, Advice::kFixFirst,
     kMake},
    {"Failed", "Error: couldn't find key ", "configuration", kNotThere, Advice::kFixFirst, kMake},
    {"FailedCreatePodSandBox", "context deadline exceeded", kUnknown, kNoSandbox,
     Advice::kRetryElsewhere, kLookAtNode},
    {"FailedCreatePodSandBox", "OOM-killed", "host-out-of-memory", "the pod's limit has no memory",
     Advice::kFixFirst, "Give the pod more memory."},
    {"FailedCreatePodSandBox", "etwork", "unreachable", "the pod's network could not be set up",
     Advice::kRetryElsewhere, kLookAtNode},
    {"FailedCreatePodSandBox", "failed (add)", "unreachable",
     "the pod's network could not be set up", Advice::kRetryElsewhere, kLookAtNode},
    {"FailedCreatePodSandBox", "sandbox image", "image-pull", "the image could not be pulled",
     Advice::kRetryElsewhere, kLookAtNode},
    {"FailedCreatePodSandBox", "", "configuration", kNoSandbox, Advice::kFixFirst, kNames, true},
    {"FailedCreatePodContainer", "", "configuration", kNoSandbox, Advice::kFixFirst, kNames, true},
    {"CreateContainerError", "", "configuration", kNoSandbox, Advice::kFixFirst, kNames, true},
    {"RunContainerError", "", "configuration", kNoSandbox, Advice::kFixFirst, kNames, true},
    {"StartError", "", "configuration", kNoSandbox, Advice::kFixFirst, kNames, true},
    {"ContainerCannotRun", "", "configuration", kNoSandbox, Advice::kFixFirst, kNames, true},
    {"Failed", "runAsNonRoot", "configuration", kNoSandbox, Advice::kFixFirst,
     "Let the pod run as another user (runAsUser), or take an image that has one.", false},
    {"OutOf*", "", "unschedulable", "the node had no room for it", Advice::kRetry,
     "Another pod took the room first: submit it again."},
    {"NodeAffinity", "", "admission", "the node did not admit the pod: its labels had changed",
     Advice::kRetry, kAgain},
    {"TopologyAffinityError", "", "admission",
     "the node could not give it processors and devices that are near each other",
     Advice::kRetryElsewhere, kLookAtNode},
    {"ProvisioningFailed", "", "volume", "the claim's volume could not be created",
     Advice::kFixFirst,
     "Look at the claim's events (kubectl describe pvc): its storage class, its size."},
    {"", "assign flavors to pod set ", "cluster-quota", "the queue's quota is used up",
     Advice::kRetry, kQueue},
    {"", "queue resource quota insufficient", "cluster-quota", "the queue's quota is used up",
     Advice::kRetry, kQueue},
    {"", "LocalQueue * doesn't exist", "admission", "the queue does not exist", Advice::kFixFirst,
     "Name a queue of this namespace (kubectl get localqueues)."},
    {"", "ClusterQueue * is inactive", "admission", "the queue is not active", Advice::kRetry,
     "Look at the queue's status (kubectl describe clusterqueue)."},
    {"FailedMount", "nput/output error", "volume", "a volume could not be mounted",
     Advice::kRetryElsewhere, kBrokenDevice},
    {"FailedMount", "can't read superblock", "volume", "a volume could not be mounted",
     Advice::kRetryElsewhere, kBrokenDevice},
    {"FailedMount", "tale file handle", "volume", "a volume could not be mounted",
     Advice::kRetryElsewhere, kBrokenDevice},
    {"FailedMount", "", "volume", "a volume could not be mounted", Advice::kFixFirst,
     "Check the claim, Secret or server that the message names."},
    {"FailedAttachVolume", "", "volume", "a volume could not be attached", Advice::kRetry,
     "It may be in use by another node: check who holds the claim."},
    {"UnexpectedAdmissionError", "", "admission", "the node did not admit the pod",
     Advice::kRetryElsewhere,
     "A device that was assigned to it does not exist: look at the node's device plugin."},
    {"", "exceeded quota", "cluster-quota", "the namespace's quota is used up", Advice::kRetry,
     "Ask for less, end something else, or have the quota raised."},
    {"", " is forbidden: failed quota: ", "cluster-quota",
     "the namespace's quota takes only pods that say how much they need", Advice::kFixFirst,
     "Ask for what the message names: --cpu, --memory, or requests in the template."},
    {"", "admission webhook*denied the request", "admission", "a webhook of the cluster refused it",
     Advice::kFixFirst, "Change what the webhook's message names."},
    {"", "ValidatingAdmissionPolicy *denied request", "admission",
     "a policy of the cluster refused it", Advice::kFixFirst, "Change what the policy names."},
    {"", "violates PodSecurity ", "admission", "the namespace does not allow such a pod",
     Advice::kFixFirst, "Change what the message names, or use a namespace that allows it."},
    {"", "failed calling webhook", "admission", "a webhook of the cluster does not answer",
     Advice::kRetry, "Try again; if it persists, look at the webhook's service and pods."},
    {"", " is forbidden: maximum ", "admission", "the namespace's limits do not allow it",
     Advice::kFixFirst, "Ask for what the message names, or have the LimitRange changed."},
    {"", " is forbidden: minimum ", "admission", "the namespace's limits do not allow it",
     Advice::kFixFirst, "Ask for what the message names, or have the LimitRange changed."},
    {"", " is forbidden: User ", "admission", "the API server does not let this user do it",
     Advice::kFixFirst, "Have the right granted that the message names, or use another namespace."},
    {"FailedCreatePod", " is forbidden: ", "admission", "the API server refused the pod",
     Advice::kFixFirst, "Change what the message names."},
    {"FailedCreatePod", " is invalid: ", "admission", "the API server refused the pod",
     Advice::kFixFirst, "Change what the message names."},
    {"FailedScheduling", "persistentvolumeclaim \"*\" not found", "volume",
     "the pod's claim does not exist", Advice::kFixFirst,
     "Create the claim that the message names."},
    {"FailedScheduling", "unbound immediate PersistentVolumeClaims", "volume",
     "the pod's claim has no volume", Advice::kFixFirst,
     "Look at the claim's events (kubectl describe pvc): its storage class, its size."},
    {"FailedScheduling", ": the job asks for *, this machine has ", "unschedulable",
     "it asks for more than this machine has", Advice::kFixFirst,
     "Ask for fewer GPUs (--gpus), or run it where there are as many: here it never starts."},
    {"FailedScheduling", "Insufficient ", "unschedulable", "no node has room for it",
     Advice::kRetry, kShort},
    {"FailedScheduling", "didn't match Pod's node affinity/selector", "unschedulable",
     "no node has the labels that it asks for", Advice::kFixFirst,
     "Change its node selector or affinity (--selector), or give a node those labels."},
    {"FailedScheduling", "", "unschedulable", "no node has room for it", Advice::kRetry, kShort},
});

// `known` may end with a star: "OutOf*" covers every resource.
bool IsReason(std::string_view reason, std::string_view known) {
  if (!known.ends_with('*')) return reason == known;
  known.remove_suffix(1);
  return reason.starts_with(known);
}

constexpr std::string_view kAssigned = "Successfully assigned ";

bool Has(std::string_view text, std::string_view words) {
  return text.find(words) != std::string_view::npos;
}

// Returns the pod in "pod/a", the object of an event; "" if the line has none.
std::string PodOf(std::string_view line) {
  if (const size_t at = line.find(kAssigned); at != std::string_view::npos) {
    const std::string_view pod = line.substr(at + kAssigned.size());
    const std::string_view name = pod.substr(0, pod.find(' '));
    return std::string(name.substr(name.find('/') + 1));  // 0 if there is no namespace
  }
  for (const std::string& word : base::Split(line, ' ')) {
    const std::string lower = base::ToLower(word);
    if (lower.starts_with("pod/")) return lower.substr(4);
  }
  return "";
}

// Returns LAST SEEN of `kubectl get events`, which begins the line: "58m", "2m30s", "3d4h".
std::optional<std::chrono::nanoseconds> AgeOf(std::string_view line) {
  std::string_view word = base::Trim(line);
  word = word.substr(0, word.find(' '));
  std::chrono::hours days{0};
  if (const size_t mark = word.find('d'); mark != std::string_view::npos) {
    const auto count = base::ParseInt(word.substr(0, mark));
    if (!count || *count < 0 || *count > 10'000) return std::nullopt;
    days = std::chrono::hours(24 * *count);
    word.remove_prefix(mark + 1);
    if (word.empty()) return days;
  }
  const auto rest = base::ParseGoDuration(word);
  return rest ? std::optional(days + *rest) : std::nullopt;
}

struct PodEvent {
  size_t line;
  std::optional<std::chrono::nanoseconds> age;
};

bool IsAfter(const PodEvent& one, const PodEvent& other) {
  return one.age && other.age ? *one.age <= *other.age : one.line > other.line;
}

// The last events that end what a pod waits for.
struct LastEvents {
  std::optional<PodEvent> assigned, started;

  // nullptr if the line is about no such wait.
  const std::optional<PodEvent>* EndOf(std::string_view line) const {
    if (Has(line, " FailedScheduling ")) return &assigned;
    const bool is_before_start = Has(line, " FailedMount ") || Has(line, " FailedAttachVolume ") ||
                                 Has(line, " FailedCreatePodSandBox ");
    return is_before_start ? &started : nullptr;
  }
};

// For each line, whether it is a wait that has ended. Empty if there are none.
std::vector<bool> FindEndedWaits(std::span<const std::string_view> lines) {
  // The second is the section, what `kubectl describe` prints about one pod, where no pod is named.
  using Key = std::pair<std::string, size_t>;
  std::map<Key, LastEvents> ends;
  std::vector<std::pair<Key, PodEvent>> waits;
  size_t section = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with("Name:")) ++section;
    const bool is_assigned = Has(lines[i], kAssigned);
    const bool is_started = Has(lines[i], " Started ") && Has(lines[i], "Started container");
    const bool is_wait = Has(lines[i], " Failed");
    if (!is_assigned && !is_started && !is_wait) continue;
    const std::string pod = PodOf(lines[i]);
    const PodEvent event{i, AgeOf(lines[i])};
    if (is_wait) waits.emplace_back(Key(pod, pod.empty() ? section : 0), event);
    if (!is_assigned && !is_started) continue;
    for (const Key& key : {Key(pod, 0), Key("", section)}) {
      auto& end = is_assigned ? ends[key].assigned : ends[key].started;
      if (!end || IsAfter(event, *end)) end = event;
    }
  }
  if (ends.empty()) return {};
  std::vector<bool> are_over(lines.size());
  for (const auto& [key, wait] : waits) {
    const auto of_pod = ends.find(key);
    const auto* const end = of_pod == ends.end() ? nullptr : of_pod->second.EndOf(lines[wait.line]);
    are_over[wait.line] = end != nullptr && *end && IsAfter(**end, wait);
  }
  return are_over;
}

// Returns the last line of a log's end that is not of a launcher's report.
std::string_view LastWordsOf(std::string_view end) {
  std::string_view line;
  do {
    const size_t begin = end.rfind('\n') + 1;  // 0 if there is none
    line = base::Trim(end.substr(begin));
    end = end.substr(0, begin == 0 ? 0 : begin - 1);
  } while (SaysNothing(line) && !end.empty());
  if (line.starts_with(base::kReportWhy)) line.remove_prefix(base::kReportWhy.size());
  return line;
}

}  // namespace

std::optional<Finding> FindInStatus(std::string_view reason, std::string_view message) {
  for (const Known& known : kStatuses) {
    if (!known.reason.empty() && !IsReason(reason, known.reason)) continue;
    if (!known.message.empty() && !Matches(message, known.message)) continue;
    Finding finding;
    finding.kind = known.kind;
    finding.title = known.title;
    finding.advice = known.advice;
    finding.advice_text = known.advice_text;
    // The message may say whose credentials or which limit it was.
    const bool may_say_more = known.may_say_more || known.kind == "image-pull";
    const Rule* const rule = may_say_more ? RuleForLine(message) : nullptr;
    if (rule != nullptr && rule->level == Level::kDeciding) {
      finding.kind = rule->kind;
      finding.title = rule->title;
      finding.advice = rule->advice;
      finding.advice_text = rule->advice_text;
    }
    // The message of a killed container is the end of its log, where the killer spoke last.
    std::string_view words = base::Trim(message);
    if (reason == "OOMKilled") words = LastWordsOf(words);
    finding.line = std::string(reason) + (reason.empty() || words.empty() ? "" : ": ");
    finding.line += words.substr(0, 400);
    return finding;
  }
  return std::nullopt;
}

std::vector<bool> FindOvertaken(std::span<const std::string_view> lines) {
  std::vector<bool> are_over = FindEndedWaits(lines);
  for (const size_t line : LinesOfPastStates(lines)) {
    are_over.resize(lines.size());
    are_over[line] = true;
  }
  return are_over;
}

}  // namespace answers
