#include "local/server/kinds/kind_rules.h"

#include "api/object.h"

namespace local::server {
namespace {

constexpr KindRules kOther;
constexpr KindRules kOtherWithStatus{.has_generation = true};

struct Row {
  const api::Resource* resource;
  const KindRules* rules;
};
constexpr Row kRows[] = {
    {&api::kPods, &kPodRules},
    {&api::kPyTorchJobs, &kJobRules},
    {&api::kEvents, &kEventRules},
    {&api::kServices, &kServiceRules},
    {&api::kConfigMaps, &kConfigMapRules},
    {&api::kSecrets, &kSecretRules},
    {&api::kPersistentVolumeClaims, &kClaimRules},
    {&api::kNodes, &kNodeRules},
    {&api::kNamespaces, &kNamespaceRules},
    {&api::kDeployments, &kDeploymentRules},
    {&api::kPriorityClasses, &kPriorityClassRules},
    {&api::kHorizontalPodAutoscalers, &kAutoscalerRules},
};

}  // namespace

void SetDefaultText(text::Json& object, text::Path path, std::string_view to) {
  if (text::GetString(object, path).empty()) text::Set(object, path, text::Json(to));
}

const KindRules& RulesOf(const api::Resource& resource) {
  for (const Row& row : kRows) {
    if (row.resource == &resource) return *row.rules;
  }
  return resource.has_status ? kOtherWithStatus : kOther;
}

void NameAndAgeCells(const text::Json& object, base::Time now, Cells& cells) {
  cells.Text(api::Name(object));
  cells.Text(Age(api::CreationTime(object), now));
}

}  // namespace local::server
