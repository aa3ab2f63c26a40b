#include "controller/loop/object_packing.h"

#include <string_view>

namespace controller {
namespace {

// Sample texts that contain what most of the stored ones do. A change costs no compatibility:
// packed texts do not outlive the process.
constexpr std::string_view kService =
    R"({"metadata":{"name":"-worker-0","uid":"","resourceVersion":"1",)"
    R"("labels":{"training.kubeflow.org/replica-type":"worker",)"
    R"("training.kubeflow.org/replica-index":"0"},)"
    R"("ownerReferences":[{"uid":"","controller":true}]}})";

constexpr std::string_view kPod =
    R"({"metadata":{"name":"-master-0","uid":"","resourceVersion":"1",)"
    R"("creationTimestamp":"2026-01-01T00:00:00Z","deletionTimestamp":"2026-01-01T00:00:00Z",)"
    R"("deletionGracePeriodSeconds":30,)"
    R"("labels":{"training.kubeflow.org/replica-type":"master",)"
    R"("training.kubeflow.org/replica-index":"0"},)"
    R"("annotations":{"muster.dev/master-port":"","muster.dev/restarts":""},)"
    R"("ownerReferences":[{"uid":"","controller":true}]},"spec":{"nodeName":""},)"
    R"("status":{"phase":"Pending","startTime":"2026-01-01T00:00:00Z",)"
    R"("initContainerStatuses":[{"name":"init-pytorch","restartCount":0,"state":{"terminated":)"
    R"({"exitCode":0,"reason":"Completed","startedAt":"2026-01-01T00:00:00Z",)"
    R"("finishedAt":"2026-01-01T00:00:00Z","containerID":"containerd://"}}}],)"
    R"("containerStatuses":[{"name":"pytorch","restartCount":0,)"
    R"("state":{"waiting":{"reason":"PodInitializing"}}}],)"
    R"("conditions":[{"lastProbeTime":null,"lastTransitionTime":"2026-01-01T00:00:00Z",)"
    R"("message":"containers with unready status: [pytorch]","reason":"ContainersNotReady",)"
    R"("status":"False","type":"ContainersReady"}]}})"
    R"({"status":{"phase":"Succeeded"}}{"status":{"phase":"Running","containerStatuses":)"
    R"([{"name":"pytorch","restartCount":0,"state":{"running":{"startedAt":"2026-01-01T00:00:00Z"}})";

constexpr std::string_view kJob =
    R"({"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"annotations":{"},)"
    R"("creationTimestamp":"2026-01-01T00:00:00Z","generation":1,"labels":{"","name":"",)"
    R"("namespace":"default","resourceVersion":"1","uid":""},"spec":{"elasticPolicy":)"
    R"({"maxReplicas":1,"maxRestarts":3,"minReplicas":1,"rdzvBackend":"c10d"},)"
    R"("nprocPerNode":"auto","pytorchReplicaSpecs":{"Master":{"replicas":1,)"
    R"("restartPolicy":"OnFailure","template":{"metadata":{"annotations":)"
    R"({"sidecar.istio.io/inject":"false"}},"spec":{"affinity":{"nodeAffinity":)"
    R"({"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":)"
    R"([{"matchExpressions":[{"key":"","operator":"In","values":[]}]}]}}},)"
    R"("containers":[{"args":["],"command":["python",")"
    R"("],"env":[{"name":"","value":""},{"name":"","valueFrom":{"secretKeyRef":{"key":""}}}],)"
    R"("image":"","imagePullPolicy":"IfNotPresent","name":"pytorch","ports":)"
    R"([{"containerPort":23456,"name":"pytorchjob-port","protocol":"TCP"}],"resources":)"
    R"({"limits":{"cpu":"1","memory":"1Gi","nvidia.com/gpu":"1"},)"
    R"("requests":{"cpu":"1","memory":"1Gi","nvidia.com/gpu":"1"}},"securityContext":{},)"
    R"("volumeMounts":[{"mountPath":"/","name":"data"},{"mountPath":"/dev/shm","name":"shm"}],)"
    R"("workingDir":"/"}],"hostNetwork":true,"imagePullSecrets":[{"name":""}],)"
    R"("nodeSelector":{"restartPolicy":"Never","schedulerName":"","serviceAccountName":"",)"
    R"("tolerations":[{"effect":"NoSchedule","key":"nvidia.com/gpu","operator":"Exists"}],)"
    R"("volumes":[{"name":"data","persistentVolumeClaim":{"claimName":""}},)"
    R"({"emptyDir":{"medium":"Memory"},"name":"shm"}]}}},"Worker":{"replicas":1,)"
    R"("restartPolicy":"OnFailure","template":{"spec":{"containers":[{"image":"}]}}}},)"
    R"("runPolicy":{"activeDeadlineSeconds":1,"backoffLimit":1,"cleanPodPolicy":"None",)"
    R"("schedulingPolicy":{"minAvailable":1},"suspend":false,"ttlSecondsAfterFinished":1}},)"
    R"("status":{"completionTime":"2026-01-01T00:00:00Z","conditions":)"
    R"([{"lastTransitionTime":"2026-01-01T00:00:00Z","lastUpdateTime":"2026-01-01T00:00:00Z",)"
    R"("message":"PyTorchJob  is created.","reason":"PyTorchJobCreated","status":"True",)"
    R"("type":"Created"},{"lastTransitionTime":"2026-01-01T00:00:00Z",)"
    R"("lastUpdateTime":"2026-01-01T00:00:00Z","message":"PyTorchJob  is running.",)"
    R"("reason":"PyTorchJobRunning","status":"True","type":"Running"}],)"
    R"("replicaStatuses":{"Master":{"active":1,"selector":"training.kubeflow.org/job-name=,)"
    R"(training.kubeflow.org/operator-name=pytorchjob-controller,)"
    R"(training.kubeflow.org/replica-type=master"},"Worker":{"active":1,"failed":1,)"
    R"("succeeded":1,"selector":"training.kubeflow.org/job-name=,)"
    R"(training.kubeflow.org/operator-name=pytorchjob-controller,)"
    R"(training.kubeflow.org/replica-type=worker"}},"startTime":"2026-01-01T00:00:00Z"}})";

}  // namespace

const text::Packing& ObjectPacking() {
  static const text::Packing kPacking(std::string(kJob) + std::string(kService) +
                                      std::string(kPod));
  return kPacking;
}

}  // namespace controller
