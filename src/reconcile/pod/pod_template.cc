#include "reconcile/pod/pod_template.h"

#include "api/names.h"
#include "api/pod.h"

namespace reconcile {

int JobPort(const text::Json& pod_template, std::optional<int> assigned) {
  if (assigned) return *assigned;
  const text::Json* const container = api::MainContainer(pod_template);
  const text::Json* const port =
      container != nullptr ? text::ItemNamed(*container, {"ports"}, api::kPortName) : nullptr;
  if (port == nullptr) return api::kDefaultPort;
  return static_cast<int>(text::GetInt(*port, {"containerPort"}).value_or(api::kDefaultPort));
}

}  // namespace reconcile
