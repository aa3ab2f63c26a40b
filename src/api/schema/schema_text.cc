// The fields of Kubernetes' kinds that we serve: facts of k8s.io/api v0.33 (core/v1, apps/v1, ...).
// schema.h describes the format of the lines.
#include "api/schema/schema_text.h"

namespace api {

const char* const kKubernetesTypes = R"(
Pod: 1 metadata ObjectMeta; 2 spec PodSpec; 3 status PodStatus
Service: 1 metadata ObjectMeta; 2 spec ServiceSpec; 3 status ServiceStatus
ConfigMap: 1 metadata ObjectMeta; 4 immutable b; 2 data {s}; 3 binaryData {y}
Secret: 1 metadata ObjectMeta; 5 immutable b; 2 data {y}; 4 stringData {s}; 3 type s
PersistentVolumeClaim: 1 metadata ObjectMeta; 2 spec PersistentVolumeClaimSpec; 3 status
  PersistentVolumeClaimStatus
Node: 1 metadata ObjectMeta; 2 spec NodeSpec; 3 status NodeStatus
Namespace: 1 metadata ObjectMeta; 2 spec NamespaceSpec; 3 status NamespaceStatus
Event: 1 metadata ObjectMeta; 2 involvedObject ObjectReference; 3 reason s; 4 message s; 5 source
  EventSource; 6 firstTimestamp t; 7 lastTimestamp t; 8 count i; 9 type s; 10 eventTime m; 11
  series EventSeries; 12 action s; 13 related ObjectReference; 14 reportingComponent s; 15
  reportingInstance s
PriorityClass: 1 metadata ObjectMeta; 2 value i; 3 globalDefault b; 4 description s; 5
  preemptionPolicy s
Deployment: 1 metadata ObjectMeta; 2 spec DeploymentSpec; 3 status DeploymentStatus
Lease: 1 metadata ObjectMeta; 2 spec LeaseSpec
DeleteOptions: 1 gracePeriodSeconds l; 2 preconditions Preconditions; 3 orphanDependents b; 4
  propagationPolicy s; 5 dryRun [s]; 6 ignoreStoreReadErrorWithClusterBreakingPotential b
SelfSubjectAccessReview: 1 metadata ObjectMeta; 2 spec SelfSubjectAccessReviewSpec; 3 status
  SubjectAccessReviewStatus
SelfSubjectReview: 1 metadata ObjectMeta; 2 status SelfSubjectReviewStatus
Binding: 1 metadata ObjectMeta; 2 target ObjectReference
ObjectMeta: 1 name s; 2 generateName s; 3 namespace s; 4 selfLink s; 5 uid s; 6 resourceVersion s;
  7 generation l; 8 creationTimestamp t; 9 deletionTimestamp t; 10 deletionGracePeriodSeconds l;
  11 labels {s}; 12 annotations {s}; 13 ownerReferences [OwnerReference/uid]; 14 finalizers [s=];
  17 managedFields [ManagedFieldsEntry]
PodSpec: 1 volumes [Volume/name]; 20 initContainers [Container/name]; 2 containers
  [Container/name]; 34 ephemeralContainers [any/name]; 3 restartPolicy s; 4
  terminationGracePeriodSeconds l; 5 activeDeadlineSeconds l; 6 dnsPolicy s; 7 nodeSelector {s}!;
  8 serviceAccountName s; 9 serviceAccount s; 21 automountServiceAccountToken b; 10 nodeName s; 11
  hostNetwork b; 12 hostPID b; 13 hostIPC b; 27 shareProcessNamespace b; 14 securityContext
  PodSecurityContext; 15 imagePullSecrets [LocalObjectReference/name]; 16 hostname s; 17 subdomain
  s; 18 affinity Affinity; 19 schedulerName s; 22 tolerations [Toleration]; 23 hostAliases
  [HostAlias/ip]; 24 priorityClassName s; 25 priority i; 26 dnsConfig PodDNSConfig; 28
  readinessGates [PodReadinessGate]; 29 runtimeClassName s; 30 enableServiceLinks b; 31
  preemptionPolicy s; 32 overhead {q}; 33 topologySpreadConstraints
  [TopologySpreadConstraint/topologyKey,whenUnsatisfiable]; 35 setHostnameAsFQDN b; 36 os PodOS;
  37 hostUsers b; 38 schedulingGates [PodSchedulingGate/name]; 39 resourceClaims
  [PodResourceClaim/name]; 40 resources ResourceRequirements
PodStatus: 17 observedGeneration l; 1 phase s; 2 conditions [PodCondition/type]; 3 message s; 4
  reason s; 11 nominatedNodeName s; 5 hostIP s; 16 hostIPs [HostIP]; 6 podIP s; 12 podIPs
  [PodIP/ip]; 7 startTime t; 10 initContainerStatuses [ContainerStatus]; 8 containerStatuses
  [ContainerStatus]; 9 qosClass s; 13 ephemeralContainerStatuses [ContainerStatus]; 14 resize s;
  15 resourceClaimStatuses [any/name]
ServiceSpec: 1 ports [ServicePort/port,protocol]; 2 selector {s}!; 3 clusterIP s; 18 clusterIPs
  [s]; 4 type s; 5 externalIPs [s]; 7 sessionAffinity s; 8 loadBalancerIP s; 9
  loadBalancerSourceRanges [s]; 10 externalName s; 11 externalTrafficPolicy s; 12
  healthCheckNodePort i; 13 publishNotReadyAddresses b; 14 sessionAffinityConfig
  SessionAffinityConfig; 19 ipFamilies [s]; 17 ipFamilyPolicy s; 20 allocateLoadBalancerNodePorts
  b; 21 loadBalancerClass s; 22 internalTrafficPolicy s; 23 trafficDistribution s
ServiceStatus: 1 loadBalancer LoadBalancerStatus; 2 conditions [Condition/type]
PersistentVolumeClaimSpec: 1 accessModes [s]; 4 selector LabelSelector; 2 resources
  VolumeResourceRequirements; 3 volumeName s; 5 storageClassName s; 6 volumeMode s; 7 dataSource
  TypedLocalObjectReference; 8 dataSourceRef TypedObjectReference; 9 volumeAttributesClassName s
PersistentVolumeClaimStatus: 1 phase s; 2 accessModes [s]; 3 capacity {q}; 4 conditions
  [PersistentVolumeClaimCondition/type]; 5 allocatedResources {q}; 7 allocatedResourceStatuses
  {s}; 8 currentVolumeAttributesClassName s; 9 modifyVolumeStatus any
NodeSpec: 1 podCIDR s; 7 podCIDRs [s=]; 3 providerID s; 4 unschedulable b; 5 taints [Taint]; 6
  configSource any; 2 externalID s
NodeStatus: 1 capacity {q}; 2 allocatable {q}; 3 phase s; 4 conditions [NodeCondition/type]; 5
  addresses [NodeAddress/type]; 6 daemonEndpoints NodeDaemonEndpoints; 7 nodeInfo NodeSystemInfo;
  8 images [ContainerImage]; 9 volumesInUse [s]; 10 volumesAttached [any]; 11 config any; 12
  runtimeHandlers [any]; 13 features any
NamespaceSpec: 1 finalizers [s]
NamespaceStatus: 1 phase s; 2 conditions [NamespaceCondition/type]
ObjectReference!: 1 kind s; 2 namespace s; 3 name s; 4 uid s; 5 apiVersion s; 6 resourceVersion s;
  7 fieldPath s
EventSource: 1 component s; 2 host s
EventSeries: 1 count i; 2 lastObservedTime m
DeploymentSpec: 1 replicas i; 2 selector LabelSelector; 3 template PodTemplateSpec; 4 strategy
  DeploymentStrategy; 5 minReadySeconds i; 6 revisionHistoryLimit i; 7 paused b; 9
  progressDeadlineSeconds i
DeploymentStatus: 1 observedGeneration l; 2 replicas i; 3 updatedReplicas i; 7 readyReplicas i; 4
  availableReplicas i; 5 unavailableReplicas i; 9 terminatingReplicas i; 6 conditions
  [DeploymentCondition/type]; 8 collisionCount i
LeaseSpec: 1 holderIdentity s; 2 leaseDurationSeconds i; 3 acquireTime m; 4 renewTime m; 5
  leaseTransitions i; 6 strategy s; 7 preferredHolder s
Preconditions: 1 uid s; 2 resourceVersion s
SelfSubjectAccessReviewSpec: 1 resourceAttributes ResourceAttributes; 2 nonResourceAttributes
  NonResourceAttributes
SubjectAccessReviewStatus: 1 allowed b; 4 denied b; 2 reason s; 3 evaluationError s
SelfSubjectReviewStatus: 1 userInfo UserInfo
OwnerReference!: 5 apiVersion s; 1 kind s; 3 name s; 4 uid s; 6 controller b; 7 blockOwnerDeletion
  b
ManagedFieldsEntry: 1 manager s; 2 operation s; 3 apiVersion s; 4 time t; 6 fieldsType s; 7
  fieldsV1 F; 8 subresource s
Volume: 1 name s; 2 ~ VolumeSource
Container: 1 name s; 2 image s; 3 command [s]; 4 args [s]; 5 workingDir s; 6 ports
  [ContainerPort/containerPort,protocol]; 19 envFrom [EnvFromSource]; 7 env [EnvVar/name]; 8
  resources ResourceRequirements; 23 resizePolicy [ContainerResizePolicy]; 24 restartPolicy s; 9
  volumeMounts [VolumeMount/mountPath]; 21 volumeDevices [VolumeDevice/devicePath]; 10
  livenessProbe Probe; 11 readinessProbe Probe; 22 startupProbe Probe; 12 lifecycle Lifecycle; 13
  terminationMessagePath s; 20 terminationMessagePolicy s; 14 imagePullPolicy s; 15
  securityContext SecurityContext; 16 stdin b; 17 stdinOnce b; 18 tty b
PodSecurityContext: 1 seLinuxOptions any; 8 windowsOptions any; 2 runAsUser l; 6 runAsGroup l; 3
  runAsNonRoot b; 4 supplementalGroups [l]; 12 supplementalGroupsPolicy s; 5 fsGroup l; 7 sysctls
  [any]; 9 fsGroupChangePolicy s; 10 seccompProfile any; 11 appArmorProfile any; 13
  seLinuxChangePolicy s
LocalObjectReference!: 1 name s
Affinity: 1 nodeAffinity NodeAffinity; 2 podAffinity PodAffinity; 3 podAntiAffinity
  PodAntiAffinity
Toleration: 1 key s; 2 operator s; 3 value s; 4 effect s; 5 tolerationSeconds l
HostAlias: 1 ip s; 2 hostnames [s]
PodDNSConfig: 1 nameservers [s]; 2 searches [s]; 3 options [PodDNSConfigOption]
PodReadinessGate: 1 conditionType s
TopologySpreadConstraint: 1 maxSkew i; 2 topologyKey s; 3 whenUnsatisfiable s; 4 labelSelector
  LabelSelector; 5 minDomains i; 6 nodeAffinityPolicy s; 7 nodeTaintsPolicy s; 8 matchLabelKeys
  [s]
PodOS: 1 name s
PodSchedulingGate: 1 name s
PodResourceClaim: 1 name s; 3 resourceClaimName s; 4 resourceClaimTemplateName s
ResourceRequirements: 1 limits {q}; 2 requests {q}; 3 claims [ResourceClaim/name]
PodCondition: 1 type s; 7 observedGeneration l; 2 status s; 3 lastProbeTime t; 4
  lastTransitionTime t; 5 reason s; 6 message s
HostIP: 1 ip s
PodIP: 1 ip s
ContainerStatus: 1 name s; 2 state ContainerState; 3 lastState ContainerState; 4 ready b; 5
  restartCount i; 6 image s; 7 imageID s; 8 containerID s; 9 started b; 10 allocatedResources {q};
  11 resources ResourceRequirements; 12 volumeMounts [any/mountPath]; 13 user any; 14
  allocatedResourcesStatus [any/name]; 15 stopSignal s
ServicePort: 1 name s; 2 protocol s; 6 appProtocol s; 3 port i; 4 targetPort x; 5 nodePort i
SessionAffinityConfig: 1 clientIP ClientIPConfig
LoadBalancerStatus: 1 ingress [LoadBalancerIngress]
Condition: 1 type s; 2 status s; 3 observedGeneration l; 4 lastTransitionTime t; 5 reason s; 6
  message s
LabelSelector!: 1 matchLabels {s}; 2 matchExpressions [LabelSelectorRequirement]
VolumeResourceRequirements: 1 limits {q}; 2 requests {q}
TypedLocalObjectReference!: 1 apiGroup s; 2 kind s; 3 name s
TypedObjectReference: 1 apiGroup s; 2 kind s; 3 name s; 4 namespace s
PersistentVolumeClaimCondition: 1 type s; 2 status s; 3 lastProbeTime t; 4 lastTransitionTime t; 5
  reason s; 6 message s
Taint: 1 key s; 2 value s; 3 effect s; 4 timeAdded t
NodeCondition: 1 type s; 2 status s; 3 lastHeartbeatTime t; 4 lastTransitionTime t; 5 reason s; 6
  message s
NodeAddress: 1 type s; 2 address s
NodeDaemonEndpoints: 1 kubeletEndpoint DaemonEndpoint
NodeSystemInfo: 1 machineID s; 2 systemUUID s; 3 bootID s; 4 kernelVersion s; 5 osImage s; 6
  containerRuntimeVersion s; 7 kubeletVersion s; 8 kubeProxyVersion s; 9 operatingSystem s; 10
  architecture s; 11 swap any
ContainerImage: 1 names [s]; 2 sizeBytes l
NamespaceCondition: 1 type s; 2 status s; 4 lastTransitionTime t; 5 reason s; 6 message s
PodTemplateSpec: 1 metadata ObjectMeta; 2 spec PodSpec
DeploymentStrategy: 1 type s; 2 rollingUpdate RollingUpdateDeployment
DeploymentCondition: 1 type s; 2 status s; 6 lastUpdateTime t; 7 lastTransitionTime t; 4 reason s;
  5 message s
ResourceAttributes: 1 namespace s; 2 verb s; 3 group s; 4 version s; 5 resource s; 6 subresource
  s; 7 name s; 8 fieldSelector any; 9 labelSelector any
NonResourceAttributes: 1 path s; 2 verb s
UserInfo: 1 username s; 2 uid s; 3 groups [s]; 4 extra {any}
VolumeSource: 1 hostPath HostPathVolumeSource; 2 emptyDir EmptyDirVolumeSource; 3
  gcePersistentDisk any; 4 awsElasticBlockStore any; 5 gitRepo any; 6 secret SecretVolumeSource; 7
  nfs NFSVolumeSource; 8 iscsi any; 9 glusterfs any; 10 persistentVolumeClaim
  PersistentVolumeClaimVolumeSource; 11 rbd any; 12 flexVolume any; 13 cinder any; 14 cephfs any;
  15 flocker any; 16 downwardAPI DownwardAPIVolumeSource; 17 fc any; 18 azureFile any; 19
  configMap ConfigMapVolumeSource; 20 vsphereVolume any; 21 quobyte any; 22 azureDisk any; 23
  photonPersistentDisk any; 26 projected ProjectedVolumeSource; 24 portworxVolume any; 25 scaleIO
  any; 27 storageos any; 28 csi any; 29 ephemeral any; 30 image any
ContainerPort: 1 name s; 2 hostPort i; 3 containerPort i; 4 protocol s; 5 hostIP s
EnvFromSource: 1 prefix s; 2 configMapRef ConfigMapEnvSource; 3 secretRef SecretEnvSource
EnvVar: 1 name s; 2 value s; 3 valueFrom EnvVarSource
ContainerResizePolicy: 1 resourceName s; 2 restartPolicy s
VolumeMount: 1 name s; 2 readOnly b; 7 recursiveReadOnly s; 3 mountPath s; 4 subPath s; 5
  mountPropagation s; 6 subPathExpr s
VolumeDevice: 1 name s; 2 devicePath s
Probe: 1 ~ ProbeHandler; 2 initialDelaySeconds i; 3 timeoutSeconds i; 4 periodSeconds i; 5
  successThreshold i; 6 failureThreshold i; 7 terminationGracePeriodSeconds l
Lifecycle: 1 postStart LifecycleHandler; 2 preStop LifecycleHandler; 3 stopSignal s
SecurityContext: 1 capabilities Capabilities; 2 privileged b; 3 seLinuxOptions any; 10
  windowsOptions any; 4 runAsUser l; 8 runAsGroup l; 5 runAsNonRoot b; 6 readOnlyRootFilesystem b;
  7 allowPrivilegeEscalation b; 9 procMount s; 11 seccompProfile any; 12 appArmorProfile any
NodeAffinity: 1 requiredDuringSchedulingIgnoredDuringExecution NodeSelector; 2
  preferredDuringSchedulingIgnoredDuringExecution [PreferredSchedulingTerm]
PodAffinity: 1 requiredDuringSchedulingIgnoredDuringExecution [PodAffinityTerm]; 2
  preferredDuringSchedulingIgnoredDuringExecution [WeightedPodAffinityTerm]
PodAntiAffinity: 1 requiredDuringSchedulingIgnoredDuringExecution [PodAffinityTerm]; 2
  preferredDuringSchedulingIgnoredDuringExecution [WeightedPodAffinityTerm]
PodDNSConfigOption: 1 name s; 2 value s
ResourceClaim: 1 name s; 2 request s
ContainerState: 1 waiting ContainerStateWaiting; 2 running ContainerStateRunning; 3 terminated
  ContainerStateTerminated
ClientIPConfig: 1 timeoutSeconds i
LoadBalancerIngress: 1 ip s; 2 hostname s; 3 ipMode s; 4 ports [PortStatus]
LabelSelectorRequirement: 1 key s; 2 operator s; 3 values [s]
DaemonEndpoint: 1 Port i
RollingUpdateDeployment: 1 maxUnavailable x; 2 maxSurge x
HostPathVolumeSource: 1 path s; 2 type s
EmptyDirVolumeSource: 1 medium s; 2 sizeLimit q
SecretVolumeSource: 1 secretName s; 2 items [KeyToPath]; 3 defaultMode i; 4 optional b
NFSVolumeSource: 1 server s; 2 path s; 3 readOnly b
PersistentVolumeClaimVolumeSource: 1 claimName s; 2 readOnly b
DownwardAPIVolumeSource: 1 items [DownwardAPIVolumeFile]; 2 defaultMode i
ConfigMapVolumeSource: 1 ~ LocalObjectReference; 2 items [KeyToPath]; 3 defaultMode i; 4 optional
  b
ProjectedVolumeSource: 1 sources [VolumeProjection]; 2 defaultMode i
ConfigMapEnvSource: 1 ~ LocalObjectReference; 2 optional b
SecretEnvSource: 1 ~ LocalObjectReference; 2 optional b
EnvVarSource: 1 fieldRef ObjectFieldSelector; 2 resourceFieldRef ResourceFieldSelector; 3
  configMapKeyRef ConfigMapKeySelector; 4 secretKeyRef SecretKeySelector
ProbeHandler: 1 exec ExecAction; 2 httpGet HTTPGetAction; 3 tcpSocket TCPSocketAction; 4 grpc
  GRPCAction
LifecycleHandler: 1 exec ExecAction; 2 httpGet HTTPGetAction; 3 tcpSocket TCPSocketAction; 4 sleep
  SleepAction
Capabilities: 1 add [s]; 2 drop [s]
NodeSelector!: 1 nodeSelectorTerms [NodeSelectorTerm]
PreferredSchedulingTerm: 1 weight i; 2 preference NodeSelectorTerm
PodAffinityTerm: 1 labelSelector LabelSelector; 2 namespaces [s]; 3 topologyKey s; 4
  namespaceSelector LabelSelector; 5 matchLabelKeys [s]; 6 mismatchLabelKeys [s]
WeightedPodAffinityTerm: 1 weight i; 2 podAffinityTerm PodAffinityTerm
ContainerStateWaiting: 1 reason s; 2 message s
ContainerStateRunning: 1 startedAt t
ContainerStateTerminated: 1 exitCode i; 2 signal i; 3 reason s; 4 message s; 5 startedAt t; 6
  finishedAt t; 7 containerID s
PortStatus: 1 port i; 2 protocol s; 3 error s
KeyToPath: 1 key s; 2 path s; 3 mode i
DownwardAPIVolumeFile: 1 path s; 2 fieldRef ObjectFieldSelector; 3 resourceFieldRef
  ResourceFieldSelector; 4 mode i
VolumeProjection: 1 secret SecretProjection; 2 downwardAPI any; 3 configMap ConfigMapProjection; 4
  serviceAccountToken any; 5 clusterTrustBundle any
ObjectFieldSelector!: 1 apiVersion s; 2 fieldPath s
ResourceFieldSelector!: 1 containerName s; 2 resource s; 3 divisor q
ConfigMapKeySelector!: 1 ~ LocalObjectReference; 2 key s; 3 optional b
SecretKeySelector!: 1 ~ LocalObjectReference; 2 key s; 3 optional b
ExecAction: 1 command [s]
HTTPGetAction: 1 path s; 2 port x; 3 host s; 4 scheme s; 5 httpHeaders [HTTPHeader]
TCPSocketAction: 1 port x; 2 host s
GRPCAction: 1 port i; 2 service s
SleepAction: 1 seconds l
NodeSelectorTerm!: 1 matchExpressions [NodeSelectorRequirement]; 2 matchFields
  [NodeSelectorRequirement]
SecretProjection: 1 ~ LocalObjectReference; 2 items [KeyToPath]; 4 optional b
ConfigMapProjection: 1 ~ LocalObjectReference; 2 items [KeyToPath]; 4 optional b
HTTPHeader: 1 name s; 2 value s
NodeSelectorRequirement: 1 key s; 2 operator s; 3 values [s]
HorizontalPodAutoscaler: 1 metadata ObjectMeta; 2 spec any; 3 status any
PodGroup: 0 metadata ObjectMeta; 0 spec any; 0 status any
SelfSubjectRulesReview: 1 metadata ObjectMeta; 2 spec SelfSubjectRulesReviewSpec; 3
  status SubjectRulesReviewStatus
SubjectRulesReviewStatus: 1 resourceRules [any]; 2 nonResourceRules [any]; 3 incomplete b; 4
  evaluationError s
SelfSubjectRulesReviewSpec: 1 namespace s
Eviction: 1 metadata ObjectMeta; 2 deleteOptions DeleteOptions
Scale: 1 metadata ObjectMeta; 2 spec ScaleSpec; 3 status ScaleStatus
ScaleSpec: 1 replicas i
ScaleStatus: 1 replicas i; 2 selector s
)";

}  // namespace api
