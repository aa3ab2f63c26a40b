#include "arena/install/installed_place.h"

#include "arena/install/install_plan.h"

namespace arena {

base::Result<std::string> PlaceOfOperator(cluster::Client& client, KindFinder& kinds) {
  TRY_ASSIGN(const api::Resource* resource,
             kinds.Find("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"));
  const auto binding = client.Get(*resource, "", kOperatorName);
  if (!binding && binding.error().code == base::Code::kNotFound) return std::string();
  if (!binding) return base::Fail(binding.error());
  const text::Array& subjects = text::Items(*binding, {"subjects"});
  return std::string(subjects.empty() ? "" : text::GetString(subjects[0], {"namespace"}));
}

}  // namespace arena
