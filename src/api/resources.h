// The kinds of objects that muster reads and writes, and their place in the Kubernetes REST API.
#pragma once

#include <span>
#include <string_view>

namespace api {

struct Resource {
  std::string_view group;  // "": core
  std::string_view version;
  std::string_view plural;
  std::string_view singular;
  std::string_view kind;
  bool namespaced = true;
  bool has_status = false;  // has a status subresource

  std::string_view list_kind() const;  // "PodList"
  // "v1", "kubeflow.org/v1"
  std::string_view api_version() const;
};

extern const Resource kPods;
extern const Resource kServices;
extern const Resource kConfigMaps;
extern const Resource kSecrets;
extern const Resource kPersistentVolumeClaims;
extern const Resource kNodes;
extern const Resource kNamespaces;
extern const Resource kEvents;
extern const Resource kPriorityClasses;
extern const Resource kDeployments;
extern const Resource kLeases;
extern const Resource kHorizontalPodAutoscalers;
extern const Resource kVolcanoPodGroups;
extern const Resource kSchedulerPluginsPodGroups;
extern const Resource kPyTorchJobs;

std::span<const Resource* const> AllResources();
// nullptr when unknown. The version has to match too.
const Resource* FindResource(std::string_view group, std::string_view version,
                             std::string_view plural);
// By apiVersion ("kubeflow.org/v1") and kind. nullptr when unknown.
const Resource* FindResourceByKind(std::string_view api_version, std::string_view kind);

}  // namespace api
