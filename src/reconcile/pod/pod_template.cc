#include "reconcile/pod/pod_template.h"

#include "api/names.h"
#include "api/pod.h"

namespace reconcile {

std::optional<int> DeclaredPort(const text::Json& pod_template) {
  const text::Json* const container = api::MainContainer(pod_template);
  const text::Json* const port =
      container != nullptr ? text::ItemNamed(*container, {"ports"}, api::kPortName) : nullptr;
  if (port == nullptr) return std::nullopt;
  const auto number = text::GetInt(*port, {"containerPort"});
  return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

int JobPort(const text::Json& pod_template, std::optional<int> assigned) {
  if (assigned) return *assigned;
  return DeclaredPort(pod_template).value_or(api::kDefaultPort);
}

}  // namespace reconcile
