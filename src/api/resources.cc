#include "api/resources.h"

#include <array>

namespace api {

constinit const Resource kPods{"", "v1", "pods", "pod", "Pod", true, true};
constinit const Resource kServices{"", "v1", "services", "service", "Service", true, true};
constinit const Resource kConfigMaps{"", "v1", "configmaps", "configmap", "ConfigMap", true, false};
constinit const Resource kSecrets{"", "v1", "secrets", "secret", "Secret", true, false};
constinit const Resource kPersistentVolumeClaims{
    "",   "v1", "persistentvolumeclaims", "persistentvolumeclaim", "PersistentVolumeClaim",
    true, true};
constinit const Resource kNodes{"", "v1", "nodes", "node", "Node", false, true};
constinit const Resource kNamespaces{"", "v1", "namespaces", "namespace", "Namespace", false, true};
constinit const Resource kEvents{"", "v1", "events", "event", "Event", true, false};
constinit const Resource kPriorityClasses{
    "scheduling.k8s.io", "v1", "priorityclasses", "priorityclass", "PriorityClass", false, false};
constinit const Resource kDeployments{"apps",       "v1", "deployments", "deployment",
                                      "Deployment", true, true};
constinit const Resource kLeases{
    "coordination.k8s.io", "v1", "leases", "lease", "Lease", true, false};
constinit const Resource kHorizontalPodAutoscalers{"autoscaling",
                                                   "v2",
                                                   "horizontalpodautoscalers",
                                                   "horizontalpodautoscaler",
                                                   "HorizontalPodAutoscaler",
                                                   true,
                                                   true};
constinit const Resource kVolcanoPodGroups{
    "scheduling.volcano.sh", "v1beta1", "podgroups", "podgroup", "PodGroup", true, true};
constinit const Resource kSchedulerPluginsPodGroups{
    "scheduling.x-k8s.io", "v1alpha1", "podgroups", "podgroup", "PodGroup", true, true};
constinit const Resource kPyTorchJobs{"kubeflow.org", "v1", "pytorchjobs", "pytorchjob",
                                      "PyTorchJob",   true, true};

namespace {

constexpr std::array<const Resource*, 15> kAll = {
    &kPods,
    &kServices,
    &kConfigMaps,
    &kSecrets,
    &kPersistentVolumeClaims,
    &kNodes,
    &kNamespaces,
    &kEvents,
    &kPriorityClasses,
    &kDeployments,
    &kLeases,
    &kHorizontalPodAutoscalers,
    &kVolcanoPodGroups,
    &kSchedulerPluginsPodGroups,
    &kPyTorchJobs,
};

struct Spelling {
  const Resource* resource;
  std::string_view list_kind;
  std::string_view api_version;
};

constexpr Spelling kSpellings[] = {
    {&kPods, "PodList", "v1"},
    {&kServices, "ServiceList", "v1"},
    {&kConfigMaps, "ConfigMapList", "v1"},
    {&kSecrets, "SecretList", "v1"},
    {&kPersistentVolumeClaims, "PersistentVolumeClaimList", "v1"},
    {&kNodes, "NodeList", "v1"},
    {&kNamespaces, "NamespaceList", "v1"},
    {&kEvents, "EventList", "v1"},
    {&kPriorityClasses, "PriorityClassList", "scheduling.k8s.io/v1"},
    {&kDeployments, "DeploymentList", "apps/v1"},
    {&kLeases, "LeaseList", "coordination.k8s.io/v1"},
    {&kHorizontalPodAutoscalers, "HorizontalPodAutoscalerList", "autoscaling/v2"},
    {&kVolcanoPodGroups, "PodGroupList", "scheduling.volcano.sh/v1beta1"},
    {&kSchedulerPluginsPodGroups, "PodGroupList", "scheduling.x-k8s.io/v1alpha1"},
    {&kPyTorchJobs, "PyTorchJobList", "kubeflow.org/v1"},
};

// Compared by value, because copies of a Resource have other addresses.
const Spelling* SpellingOf(const Resource& resource) {
  for (const Spelling& spelling : kSpellings) {
    if (spelling.resource->kind == resource.kind && spelling.resource->group == resource.group &&
        spelling.resource->version == resource.version) {
      return &spelling;
    }
  }
  return nullptr;
}

}  // namespace

std::string_view Resource::list_kind() const {
  const Spelling* const spelling = SpellingOf(*this);
  return spelling != nullptr ? spelling->list_kind : std::string_view{};
}

std::string_view Resource::api_version() const {
  const Spelling* const spelling = SpellingOf(*this);
  return spelling != nullptr ? spelling->api_version : std::string_view{};
}

std::span<const Resource* const> AllResources() { return kAll; }

const Resource* FindResource(std::string_view group, std::string_view version,
                             std::string_view plural) {
  for (const Resource* const resource : kAll) {
    if (resource->plural == plural && resource->group == group && resource->version == version) {
      return resource;
    }
  }
  return nullptr;
}

const Resource* FindResourceByKind(std::string_view api_version, std::string_view kind) {
  for (const Spelling& spelling : kSpellings) {
    if (spelling.resource->kind == kind && spelling.api_version == api_version) {
      return spelling.resource;
    }
  }
  return nullptr;
}

}  // namespace api
