// Labels, annotations, names and reasons that other software reads, each defined once.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace api {

// compat/pytorchjob.md 2.3
inline constexpr std::string_view kOperatorNameLabel = "training.kubeflow.org/operator-name";
inline constexpr std::string_view kJobNameLabel = "training.kubeflow.org/job-name";
inline constexpr std::string_view kReplicaTypeLabel = "training.kubeflow.org/replica-type";
inline constexpr std::string_view kReplicaIndexLabel = "training.kubeflow.org/replica-index";
inline constexpr std::string_view kJobRoleLabel = "training.kubeflow.org/job-role";
inline constexpr std::string_view kControllerName = "pytorchjob-controller";
inline constexpr std::string_view kMaster = "Master";
inline constexpr std::string_view kWorker = "Worker";
inline constexpr std::string_view kContainerName = "pytorch";
inline constexpr std::string_view kPortName = "pytorchjob-port";
inline constexpr int kDefaultPort = 23456;
inline constexpr std::string_view kInitContainerName = "init-pytorch";
// The validating webhook (1.5).
inline constexpr std::string_view kWebhookName =
    "validator.pytorchjob.training-operator.kubeflow.org";
// Values of spec.runPolicy.managedBy (1.5).
inline constexpr std::string_view kManagedByUs = "kubeflow.org/training-operator";
inline constexpr std::string_view kManagedByMultiKueue = "kueue.x-k8s.io/multikueue";
// On a job: the queue in which it waits for admission.
inline constexpr std::string_view kKueueQueueLabel = "kueue.x-k8s.io/queue-name";

// compat/arena.md 3
inline constexpr std::string_view kArenaCodeContainer = "init-code";
inline constexpr std::string_view kRequestGpusAnnotation = "requestGPUsOfJobOwner";
inline constexpr std::string_view kGpuResource = "nvidia.com/gpu";

// muster's own. On Secrets that `muster secret` has made; those of jobs do not have it.
inline constexpr std::string_view kSecretLabel = "muster.dev/secret";
// On a job: the Python interpreter of its pods on the embedded cluster, an absolute
// path; set at submit.
inline constexpr std::string_view kPythonAnnotation = "muster.dev/python";
// On a job: the submitter's PATH and similar variables for its pods, a JSON object of strings.
inline constexpr std::string_view kEnvironmentAnnotation = "muster.dev/environment";
// TCP port of the job's rank 0 in decimal: on pods of the embedded cluster; on a job, "auto" asks
// for a free choice.
inline constexpr std::string_view kMasterPortAnnotation = "muster.dev/master-port";
// On a job of a Kubernetes cluster: which pods are replaced together with a failed one.
inline constexpr std::string_view kRestartScopeAnnotation = "muster.dev/restart-scope";
// On the pods of such a job: how often their scope had been restarted when they were created.
inline constexpr std::string_view kRestartsAnnotation = "muster.dev/restarts";
// How many of those restarts followed a disruption: they do not count towards backoffLimit, unless
// the job's second annotation is "true".
inline constexpr std::string_view kDisruptionsAnnotation = "muster.dev/disruptions";
inline constexpr std::string_view kCountDisruptionsAnnotation = "muster.dev/count-disruptions";
// On pods of a resumed job: its startTime when they were created.
inline constexpr std::string_view kRunAnnotation = "muster.dev/run";
// On a job: what workers wait for before they start: dns, port or none.
inline constexpr std::string_view kInitStepAnnotation = "muster.dev/init-step";
// On a pod of the embedded cluster: its job cannot continue, so its processes have to be ended. The
// pod and its logs stay.
inline constexpr std::string_view kEndAnnotation = "muster.dev/end";
// status.reason of a pod that was ended in that way: an effect of the job's failure, never its
// cause.
inline constexpr std::string_view kJobEndedReason = "JobEnded";
// Kubernetes' reason of a container that was killed for its memory.
inline constexpr std::string_view kOomKilled = "OOMKilled";
// On a failed job: which rank failed first and how, in one line, because its pods may be deleted.
inline constexpr std::string_view kFailureAnnotation = "muster.dev/failure";
// On a PersistentVolumeClaim of the embedded cluster: the directory that it stands for.
inline constexpr std::string_view kVolumePathAnnotation = "muster.dev/path";
// On a pod that another object controls (the job's TensorBoard): uid of the job that it belongs to.
inline constexpr std::string_view kJobUidAnnotation = "muster.dev/job-uid";
// On pods of a `submit --tensorboard` whose --logdir is on a claim or in a folder of the machine:
// where its event files are. On the embedded cluster this is the folder on this machine, elsewhere
// the path in the container.
inline constexpr std::string_view kLogdirAnnotation = "muster.dev/logdir";
// On a Deployment of the embedded cluster: `muster down` has ended its pods; the next daemon
// removes the annotation and creates them again.
inline constexpr std::string_view kStoppedAnnotation = "muster.dev/stopped";
// On a job of the embedded cluster: metadata.creationTimestamp with its fraction of a second.
inline constexpr std::string_view kCreatedAnnotation = "muster.dev/created";
// On a job: a unique id of the submit call that created it, by which submit recognizes its own job
// after a broken connection.
inline constexpr std::string_view kSubmissionAnnotation = "muster.dev/submission";
// On a job of a Kubernetes cluster: who is creating it, until all its objects exist
// (arena/jobs/broken_submission.h).
inline constexpr std::string_view kSubmittingAnnotation = "muster.dev/submitting";
// On a job of the embedded cluster: the settings that this machine does not honour, one per line.
inline constexpr std::string_view kUnmetAnnotation = "muster.dev/unmet";
// On a pod of the embedded cluster: indices of the GPUs that it holds, "0,1".
inline constexpr std::string_view kGpusAnnotation = "muster.dev/gpus";
// On a job that `run` created: its copy of the caller's folder (formats/snapshots.md); the git
// commit of that folder; what the user typed, where the command itself says little; and for a
// sweep, how many trials it has.
inline constexpr std::string_view kSnapshotAnnotation = "muster.dev/snapshot";
inline constexpr std::string_view kCommitAnnotation = "muster.dev/commit";
inline constexpr std::string_view kCommandAnnotation = "muster.dev/command";
inline constexpr std::string_view kTrialsAnnotation = "muster.dev/trials";
// On a job: digests of the variables whose values are in its Secret (arena/folder/run_note.h), a
// JSON object.
inline constexpr std::string_view kDigestsAnnotation = "muster.dev/value-digests";
// On a running job: what stalls it (api/stall.h); removed once the job continues.
inline constexpr std::string_view kStallAnnotation = "muster.dev/stall";
// On a job: the earlier periods in which something stalled it (api/stall.h).
inline constexpr std::string_view kStallsAnnotation = "muster.dev/stalls";
// On a job: what the last of them was, as in kStallAnnotation: the job may have failed by its end.
inline constexpr std::string_view kLastStallAnnotation = "muster.dev/last-stall";
// On jobs and pods of the embedded cluster: the submitter's umask for the job's programs, in octal.
inline constexpr std::string_view kUmaskAnnotation = "muster.dev/umask";
// On a job: whom to notify, one per line; the label of the same name says when (end, fail, start).
inline constexpr std::string_view kNotifyAnnotation = "muster.dev/notify";
// A target with this name: notify-send shows the notice.
inline constexpr std::string_view kNotifyDesktop = "desktop";
// On a job of the embedded cluster that notifies a desktop: the address of its submitter's session
// bus.
inline constexpr std::string_view kSessionBusAnnotation = "muster.dev/session-bus";
// With "-start" or "-end": that the notification was sent, or why it failed.
inline constexpr std::string_view kNotifiedAnnotation = "muster.dev/notified";

// `<job>-<type lower>-<index>`; '/' becomes '-'.
std::string ReplicaName(std::string_view job, std::string_view type, int index);
// How the controller's events about a container begin: "Error pod j-worker-0 container pytorch "
// (compat/pytorchjob.md 2.10).
std::string ContainerErrorPrefix(std::string_view pod, std::string_view container);

// What Kubernetes accepts as names (k8s.io/apimachinery, util/validation).
inline constexpr size_t kMaxLabelLength = 63;
inline constexpr size_t kMaxSubdomainLength = 253;
constexpr bool IsAlphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
// A letter, a digit, '-', '_' or '.': also the characters of a ConfigMap's keys.
constexpr bool IsNameCharacter(char c) {
  return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.';
}
// A name of an environment variable, by the rule of kubelets before 1.30; newer ones accept more.
bool IsVariableName(std::string_view text);
// Without the limit of length, which has a message of its own: [a-z0-9]([-a-z0-9]*[a-z0-9])?
bool IsDnsLabel(std::string_view text);
// A DNS label that begins with a letter.
bool IsDns1035Label(std::string_view text);
// DNS labels joined by dots, also without a limit of length.
bool IsDnsSubdomain(std::string_view text);
// A DNS subdomain of permitted length: the name of most objects.
bool IsObjectName(std::string_view text);
// The value of a label: empty, or name characters that begin and end with an alphanumeric one.
bool IsLabelValue(std::string_view text);
// The key of a label, or a resource: [subdomain/]name.
bool IsQualifiedName(std::string_view text);

}  // namespace api
