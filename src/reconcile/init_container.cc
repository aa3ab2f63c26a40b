#include "reconcile/init_container.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "api/names.h"
#include "text/yaml.h"

namespace reconcile {
namespace {

void ReplaceAll(std::string& in, std::string_view what, std::string_view with) {
  for (size_t at = in.find(what); at != std::string::npos; at = in.find(what, at + with.size())) {
    in.replace(at, what.size(), with);
  }
}

std::optional<text::Array> Parse(std::string_view yaml) {
  auto parsed = text::ParseYaml(yaml);
  if (!parsed || !parsed->is_array() || parsed->get_array().empty()) return std::nullopt;
  const bool are_containers = std::all_of(
      parsed->get_array().begin(), parsed->get_array().end(), [](const text::Json& container) {
        return container.is_object() && !text::GetString(container, {"name"}).empty();
      });
  if (!are_containers) return std::nullopt;
  return std::move(parsed->get_array());
}

std::optional<text::Array> FromTemplate(const Options& options, std::string_view master) {
  if (options.init_container_template.empty()) return std::nullopt;
  std::string yaml = options.init_container_template;
  ReplaceAll(yaml, "{{.MasterAddr}}", master);
  ReplaceAll(yaml, "{{.InitContainerImage}}", options.init_container_image);
  ReplaceAll(yaml, "{{.MaxTries}}", fmt::to_string(options.init_container_max_tries));
  return Parse(yaml);
}

text::Array BuiltIn(const Options& options, std::string_view master) {
  text::Object container;
  container["name"] = api::kInitContainerName;
  container["image"] = options.init_container_image;
  container["imagePullPolicy"] = "IfNotPresent";
  container["resources"] =
      text::Object{{"limits", text::Object{{"cpu", "100m"}, {"memory", "20Mi"}}},
                   {"requests", text::Object{{"cpu", "50m"}, {"memory", "10Mi"}}}};
  container["command"] = text::Array{
      "sh", "-c",
      fmt::format("err=1;for i in $(seq {}); do if nslookup {}; then err=0 && break; fi;"
                  "echo waiting for master; sleep 2; done; exit $err",
                  options.init_container_max_tries, master)};
  text::Array containers;
  containers.emplace_back(std::move(container));
  return containers;
}

}  // namespace

text::Array InitContainers(const api::PyTorchJob& job, std::string_view type,
                           const Options& options) {
  if (!options.init_container || type != api::kWorker || job.Master() == nullptr) return {};
  const std::string master = api::ReplicaName(job.name, api::kMaster, 0);
  if (auto containers = FromTemplate(options, master)) return *std::move(containers);
  return BuiltIn(options, master);
}

bool IsInitContainerTemplate(std::string_view yaml) {
  Options options;
  options.init_container_template = yaml;
  return FromTemplate(options, "master").has_value();
}

}  // namespace reconcile
