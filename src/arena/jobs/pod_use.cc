#include "arena/jobs/pod_use.h"

#include "api/object.h"
#include "api/resources.h"
#include "base/quantity.h"

namespace arena {
namespace {

constinit const api::Resource kPodMetrics{"metrics.k8s.io", "v1beta1", "pods", "pod",
                                          "PodMetrics",     true,      true};

}  // namespace

PodUse ReadPodUse(const text::Json& metrics) {
  PodUse use;
  for (const text::Json& container : text::Items(metrics, {"containers"})) {
    const auto cpu = base::ParseQuantityMilli(text::GetString(container, {"usage", "cpu"}));
    const auto memory = base::ParseQuantity(text::GetString(container, {"usage", "memory"}));
    use.cpu += static_cast<double>(cpu.value_or(0)) / 1000;
    use.memory += memory.value_or(0);
  }
  return use;
}

base::Result<std::map<std::string, PodUse>> UseOfPods(cluster::Client& client,
                                                      const std::string& namespace_name,
                                                      const std::string& label_selector) {
  cluster::ListOptions options;
  options.namespace_name = namespace_name;
  options.label_selector = label_selector;
  const auto list = client.List(kPodMetrics, options);
  // A list is missing only with its kind.
  if (!list && list.error().code == base::Code::kNotFound) {
    return base::Fail(base::Code::kInvalidArgument, "the cluster serves no metrics.k8s.io");
  }
  if (!list) return base::Fail(list.error());
  std::map<std::string, PodUse> uses;
  for (const text::Json& item : list->items) uses.emplace(api::Name(item), ReadPodUse(item));
  return uses;
}

}  // namespace arena
