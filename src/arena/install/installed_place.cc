#include "arena/install/installed_place.h"

#include <fmt/format.h>

#include <string_view>

#include "api/object.h"
#include "api/resources.h"
#include "arena/install/install_plan.h"

namespace arena {
namespace {

// "--namespace=x" -> "x"; nullopt for other words.
std::optional<std::string_view> NamespaceOf(std::string_view word) {
  for (const std::string_view flag : {"--namespace=", "-namespace="}) {
    if (word.starts_with(flag)) return word.substr(flag.size());
  }
  return std::nullopt;
}

}  // namespace

base::Result<std::string> PlaceOfOperator(cluster::Client& client, KindFinder& kinds) {
  TRY_ASSIGN(const api::Resource* resource,
             kinds.Find("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"));
  const auto binding = client.Get(*resource, "", kOperatorName);
  if (!binding && binding.error().code == base::Code::kNotFound) return std::string();
  if (!binding) return base::Fail(binding.error());
  const text::Array& subjects = text::Items(*binding, {"subjects"});
  return std::string(subjects.empty() ? "" : text::GetString(subjects[0], {"namespace"}));
}

std::optional<std::string> JobsOfOperator(const text::Json& deployment) {
  if (text::GetInt(deployment, {"spec", "replicas"}).value_or(1) == 0) return std::nullopt;
  const text::Array& containers =
      text::Items(deployment, {"spec", "template", "spec", "containers"});
  if (containers.empty()) return std::nullopt;
  std::string jobs_of;
  const text::Array& words = text::Items(containers.front(), {"args"});
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = text::GetString(words[i], {});
    if (const auto name = NamespaceOf(word)) {
      jobs_of = *name;
    } else if ((word == "--namespace" || word == "-namespace") && i + 1 < words.size()) {
      jobs_of = text::GetString(words[++i], {});
    }
  }
  // A variable of the pod: its own namespace.
  if (jobs_of.starts_with('$')) return std::string(api::Namespace(deployment));
  return jobs_of;
}

base::Result<std::optional<text::Json>> FindRival(cluster::Client& client,
                                                  const text::Json& deployment) {
  const auto wanted = JobsOfOperator(deployment);
  if (!wanted) return std::nullopt;
  cluster::ListOptions options;
  options.label_selector = fmt::format("app.kubernetes.io/name={}", kOperatorName);
  const auto list = client.List(api::kDeployments, options);
  if (!list && list.error().code == base::Code::kPermissionDenied) return std::nullopt;
  if (!list) return base::Fail(list.error());
  for (const text::Json& other : list->items) {
    if (api::Namespace(other) == api::Namespace(deployment)) continue;
    const auto jobs_of = JobsOfOperator(other);
    if (!jobs_of) continue;
    if (jobs_of->empty() || wanted->empty() || *jobs_of == *wanted) return other;
  }
  return std::nullopt;
}

}  // namespace arena
