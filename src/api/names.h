// Labels, annotations, names and reasons that other software reads: each written once.
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
// The queue that a job waits in for its admission, on the job.
inline constexpr std::string_view kKueueQueueLabel = "kueue.x-k8s.io/queue-name";

// compat/arena.md 3
inline constexpr std::string_view kArenaCodeContainer = "init-code";
inline constexpr std::string_view kRequestGpusAnnotation = "requestGPUsOfJobOwner";
inline constexpr std::string_view kGpuResource = "nvidia.com/gpu";

// Ours.
// Interpreter of the job's pods on the embedded cluster, an absolute path; set at submit.
inline constexpr std::string_view kPythonAnnotation = "muster.dev/python";
// JSON object of strings: the submitter's PATH and the like, for the job's pods.
inline constexpr std::string_view kEnvironmentAnnotation = "muster.dev/environment";
// TCP port of the job's rank 0, decimal: on pods of the embedded cluster; on a job, "auto" has one
// chosen.
inline constexpr std::string_view kMasterPortAnnotation = "muster.dev/master-port";
// On a job of a Kubernetes cluster: what a failed pod takes with it when it is replaced.
inline constexpr std::string_view kRestartScopeAnnotation = "muster.dev/restart-scope";
// On the pods of such a job: how often their scope had been restarted when they were made.
inline constexpr std::string_view kRestartsAnnotation = "muster.dev/restarts";
// Beside it how many of those restarts followed a disruption: they are not counted towards
// backoffLimit, unless the job's second annotation is "true".
inline constexpr std::string_view kDisruptionsAnnotation = "muster.dev/disruptions";
inline constexpr std::string_view kCountDisruptionsAnnotation = "muster.dev/count-disruptions";
// On pods of a job that has been resumed: its startTime when they were made.
inline constexpr std::string_view kRunAnnotation = "muster.dev/run";
// On a job: how workers wait for the master, dns, port or none.
inline constexpr std::string_view kInitStepAnnotation = "muster.dev/init-step";
// On a pod of the embedded cluster: its job cannot go on, so its processes are to end. The pod and
// its logs stay.
inline constexpr std::string_view kEndAnnotation = "muster.dev/end";
// status.reason of a pod that was ended so: an effect of the job's failure, never its cause.
inline constexpr std::string_view kJobEndedReason = "JobEnded";
// Which rank failed first and how, one line; on a failed job, since its pods may be deleted.
inline constexpr std::string_view kFailureAnnotation = "muster.dev/failure";
// Of a PersistentVolumeClaim on the embedded cluster: the directory that it stands for.
inline constexpr std::string_view kVolumePathAnnotation = "muster.dev/path";
// uid of the job that a pod belongs to though another object controls it (its TensorBoard).
inline constexpr std::string_view kJobUidAnnotation = "muster.dev/job-uid";
// On a Deployment of the embedded cluster: `muster down` has ended its pods; the next daemon takes
// it off and makes them anew.
inline constexpr std::string_view kStoppedAnnotation = "muster.dev/stopped";
// Which call of submit made a job: one id each, so that it knows its own after a broken connection.
inline constexpr std::string_view kSubmissionAnnotation = "muster.dev/submission";
// Who is making a job on Kubernetes, as long as it is not whole (arena/jobs/broken_submission.h).
inline constexpr std::string_view kSubmittingAnnotation = "muster.dev/submitting";
// On a job of the embedded cluster: what it asks for that this machine does not do, a line each.
inline constexpr std::string_view kUnmetAnnotation = "muster.dev/unmet";
// GPU indices that a pod holds on the embedded cluster, "0,1".
inline constexpr std::string_view kGpusAnnotation = "muster.dev/gpus";
// Of a job that `run` made: its copy of the caller's folder (formats/snapshots.md), the git commit
// that this was of, and, where the command says little to people, what they typed.
inline constexpr std::string_view kSnapshotAnnotation = "muster.dev/snapshot";
inline constexpr std::string_view kCommitAnnotation = "muster.dev/commit";
inline constexpr std::string_view kCommandAnnotation = "muster.dev/command";
// Of a job: whom to tell, a line each; the label of the same name says when (end, fail, start).
// Who holds a running job up (api/stall.h); gone once it goes on.
inline constexpr std::string_view kStallAnnotation = "muster.dev/stall";
// When ranks of a job were held up before (api/stall.h).
inline constexpr std::string_view kStallsAnnotation = "muster.dev/stalls";
inline constexpr std::string_view kNotifyAnnotation = "muster.dev/notify";
// With "-start" or "-end": that it was told, or why not.
inline constexpr std::string_view kNotifiedAnnotation = "muster.dev/notified";

// `<job>-<type lower>-<index>`; '/' becomes '-'.
std::string ReplicaName(std::string_view job, std::string_view type, int index);

// What Kubernetes takes for a name (k8s.io/apimachinery, util/validation).
inline constexpr size_t kMaxLabelLength = 63;
inline constexpr size_t kMaxSubdomainLength = 253;
constexpr bool IsAlphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
// A letter, a digit, '-', '_' or '.': also what the keys of a ConfigMap are made of.
constexpr bool IsNameCharacter(char c) {
  return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.';
}
// Of an environment variable, by the rule that kubelets had before 1.30; newer ones take more.
bool IsVariableName(std::string_view text);
// Of any length, for its limit is said by itself: [a-z0-9]([-a-z0-9]*[a-z0-9])?
bool IsDnsLabel(std::string_view text);
// Such a label that begins with a letter.
bool IsDns1035Label(std::string_view text);
// Such labels with dots between them, of any length too.
bool IsDnsSubdomain(std::string_view text);
// A subdomain that is not too long: the name of most objects.
bool IsObjectName(std::string_view text);
// The value of a label: nothing, or name characters between an alphanumeric one at each end.
bool IsLabelValue(std::string_view text);
// The key of a label, or a resource: [subdomain/]name.
bool IsQualifiedName(std::string_view text);

}  // namespace api
