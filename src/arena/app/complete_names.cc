#include "arena/app/complete_names.h"

#include <fmt/format.h>

#include <utility>

#include "api/names.h"
#include "api/object.h"
#include "arena/app/ownership.h"
#include "text/projection.h"

namespace arena {
namespace {

base::Result<text::Json> ReadName(std::string_view object) {
  static const text::Projection kName{{"metadata", "name"}};
  return text::ParsePart(object, kName);
}

std::vector<std::string> NamesOfList(cluster::Client& client, const api::Resource& resource,
                                     cluster::ListOptions options) {
  std::vector<std::string> names;
  options.read = ReadName;
  if (const auto objects = client.List(resource, options)) {
    for (const text::Json& object : objects->items) names.emplace_back(api::Name(object));
  }
  return names;
}

std::vector<std::string> NamesInNamespace(Context& context, const api::Resource& resource,
                                          std::string_view selector) {
  const auto client = context.connect(context);
  if (!client) return {};
  cluster::ListOptions options;
  options.namespace_name = context.Namespace();
  options.label_selector = selector;
  return NamesOfList(**client, resource, std::move(options));
}

std::vector<std::string> NamesInCluster(Context& context, const api::Resource& resource) {
  const auto client = context.connect(context);
  if (!client) return {};
  return NamesOfList(**client, resource, {});
}

}  // namespace

std::vector<std::string> CompleteJobNames(Context& context) {
  const auto client = context.connect(context);
  if (!client) return {};
  const auto selector = VisibleSelector(**client, context, "");
  if (!selector) return {};
  cluster::ListOptions options;
  options.namespace_name = context.Namespace();
  options.label_selector = *selector;
  return NamesOfList(**client, api::kPyTorchJobs, std::move(options));
}

void CompleteOneJob(cli::Command& verb, Context& context) {
  verb.CompleteArgs([&context](cli::Invocation& call, std::string_view) {
    return call.args.empty() ? CompleteJobNames(context) : std::vector<std::string>();
  });
}

void AddInstanceFlag(cli::FlagSet& set, std::string* to, Context& context, std::string usage) {
  set.String(to, "instance", "", std::move(usage))
      .Short('i')
      .Complete([&context](std::string_view) {
        return NamesInNamespace(
            context, api::kPods,
            fmt::format("{}={}", api::kOperatorNameLabel, api::kControllerName));
      });
}

std::vector<std::string> CompleteDataNames(Context& context) {
  return NamesInNamespace(context, api::kPersistentVolumeClaims, "");
}

std::vector<std::string> CompleteSecretNames(Context& context) {
  return NamesInNamespace(context, api::kSecrets, api::kSecretLabel);
}

void CompleteJobFlags(cli::FlagSet& set, Context& context) {
  set.Find("data")->Complete([&context](std::string_view) { return CompleteDataNames(context); });
  set.Find("priority")->Complete([&context](std::string_view) {
    return CompletePriorityNames(context);
  });
  set.Find("wait-for")->Complete([&context](std::string_view) {
    return CompleteJobNames(context);
  });
}

std::vector<std::string> CompleteNamespaceNames(Context& context) {
  return NamesInCluster(context, api::kNamespaces);
}

std::vector<std::string> CompleteNodeNames(Context& context) {
  return NamesInCluster(context, api::kNodes);
}

std::vector<std::string> CompletePriorityNames(Context& context) {
  return NamesInCluster(context, api::kPriorityClasses);
}

}  // namespace arena
