#include "reconcile/pod_template.h"

#include "api/names.h"

namespace reconcile {

const text::Json* MainContainer(const text::Json& pod_template) {
  const text::Array* const containers = text::FindArray(pod_template, {"spec", "containers"});
  if (containers == nullptr || containers->empty()) return nullptr;
  for (const text::Json& container : *containers) {
    if (text::GetString(container, {"name"}) == api::kContainerName) return &container;
  }
  return &containers->front();
}

text::Json* MainContainer(text::Json& pod_template) {
  return const_cast<text::Json*>(MainContainer(std::as_const(pod_template)));
}

int JobPort(const text::Json& pod_template, std::optional<int> assigned) {
  if (assigned) return *assigned;
  const text::Json* const container = MainContainer(pod_template);
  const text::Array* const ports =
      container != nullptr ? text::FindArray(*container, {"ports"}) : nullptr;
  if (ports == nullptr) return api::kDefaultPort;
  for (const text::Json& port : *ports) {
    if (text::GetString(port, {"name"}) != api::kPortName) continue;
    return static_cast<int>(text::GetInt(port, {"containerPort"}).value_or(api::kDefaultPort));
  }
  return api::kDefaultPort;
}

}  // namespace reconcile
