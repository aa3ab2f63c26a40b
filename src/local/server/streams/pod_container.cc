#include "local/server/streams/pod_container.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "api/names.h"
#include "api/object.h"
#include "base/strings.h"

namespace local::server {
namespace {

std::vector<std::string> ContainerNames(const text::Json& pod, std::string_view list) {
  std::vector<std::string> names;
  for (const text::Json& container : text::Items(pod, {"spec", list})) {
    names.emplace_back(text::GetString(container, {"name"}));
  }
  return names;
}

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

namespace {

// The existing pod or, with podUID, the pod of that uid, which may be gone.
base::Result<std::string> PodText(Backend& backend, const RestRequest& rest) {
  auto json = backend.store->Get(rest.key());
  const std::string uid(rest.target.Query("podUID"));
  if (uid.empty() || (!json && json.error().code != base::Code::kNotFound)) return json;
  if (json) {
    const auto pod = text::ParseJson(*json);
    if (pod && api::Uid(*pod) == uid) return json;
  }
  store::KeptQuery query;
  query.uid = uid;
  query.namespace_name = rest.namespace_name;
  query.name = rest.name;
  TRY_ASSIGN(std::vector<store::Kept> kept, backend.store->ListKept(query));
  if (!kept.empty()) return std::move(kept.front().json);
  return base::Fail(base::Code::kNotFound, "there is no record of this pod");
}

}  // namespace

Answer<text::Json> ReadPod(Backend& backend, const RestRequest& rest) {
  const auto json = PodText(backend, rest);
  if (!json) {
    const bool is_absent = json.error().code == base::Code::kNotFound;
    return Refuse(is_absent ? NotFound(*rest.resource, rest.name) : FromError(json.error()));
  }
  auto pod = text::ParseJson(*json);
  if (!pod) return Refuse(FromError(pod.error()));
  return std::move(*pod);
}

Answer<std::string> ResolveContainer(const text::Json& pod, std::string_view wanted) {
  const auto containers = ContainerNames(pod, "containers");
  const auto init = ContainerNames(pod, "initContainers");
  const std::string_view name = api::Name(pod);
  if (!wanted.empty()) {
    if (Contains(containers, wanted) || Contains(init, wanted)) return std::string(wanted);
    return Refuse(BadRequest(fmt::format("container {} is not valid for pod {}", wanted, name)));
  }
  if (containers.size() == 1) return containers.front();
  if (Contains(containers, api::kContainerName)) return std::string(api::kContainerName);
  std::string message =
      fmt::format("a container name must be specified for pod {}, choose one of: [{}]", name,
                  base::Join(containers, " "));
  if (!init.empty()) {
    message += fmt::format(" or one of the init containers: [{}]", base::Join(init, " "));
  }
  return Refuse(BadRequest(std::move(message)));
}

}  // namespace local::server
