#include "arena/install/install_plan.h"

#include <algorithm>

#include "api/job/definition.h"
#include "api/object.h"
#include "arena/install/deploy_files.h"
#include "text/yaml.h"

namespace arena {
namespace {

constexpr std::string_view kPolicyFlag = "--webhook-failure-policy=";
// The port of the Service in deploy/status.
constexpr std::string_view kStatusAddress = "--status-address=:9444";

base::Status AddObjects(std::string_view yaml, std::vector<text::Json>& objects) {
  TRY_ASSIGN(auto documents, text::ParseYamlDocuments(yaml));
  for (text::Json& document : documents) objects.push_back(std::move(document));
  return {};
}

void MoveToNamespace(const std::string& name, text::Json& object) {
  if (!api::Namespace(object).empty())
    text::Set(object, {"metadata", "namespace"}, text::Json(name));
  const std::string_view kind = text::GetString(object, {"kind"});
  if (kind == "Namespace") text::Set(object, {"metadata", "name"}, text::Json(name));
  if (text::Json* const subjects = text::Find(object, {"subjects"})) {
    for (text::Json& subject : subjects->as_array())
      text::Set(subject, {"namespace"}, text::Json(name));
  }
}

void EraseNamed(text::Json& list, std::string_view name) {
  text::Array& items = list.as_array();
  items.erase(std::remove_if(
                  items.begin(), items.end(),
                  [&](const text::Json& item) { return text::GetString(item, {"name"}) == name; }),
              items.end());
}

void FitDeployment(const InstallOptions& options, text::Json& deployment) {
  text::Set(deployment, {"spec", "replicas"}, options.replicas);
  text::Json& container =
      text::Find(deployment, {"spec", "template", "spec", "containers"})->as_array().front();
  text::Set(container, {"image"}, text::Json(options.image));
  text::Array& args = text::Find(container, {"args"})->as_array();
  if (options.is_namespaced) {
    args.erase(std::remove_if(args.begin(), args.end(),
                              [](const text::Json& arg) {
                                return text::GetString(arg, {}).starts_with("--webhook-");
                              }),
               args.end());
    args.emplace_back("--webhook-server-port=0");
    args.emplace_back("--namespace=" + options.namespace_name);
    EraseNamed(*text::Find(container, {"ports"}), "webhook");
  } else {
    for (text::Json& arg : args) {
      if (text::GetString(arg, {}).starts_with(kPolicyFlag)) {
        arg = std::string(kPolicyFlag) + options.failure_policy;
      }
    }
  }
  if (options.takes_status_posts) args.emplace_back(kStatusAddress);
  for (const std::string& arg : options.operator_args) args.emplace_back(arg);
}

void Fit(const InstallOptions& options, text::Json& object) {
  MoveToNamespace(options.namespace_name, object);
  const std::string_view kind = text::GetString(object, {"kind"});
  if (kind == "Deployment") FitDeployment(options, object);
  if (kind == "Service" && options.is_namespaced) {
    EraseNamed(*text::Find(object, {"spec", "ports"}), "webhook");
  }
}

}  // namespace

base::Result<std::vector<text::Json>> PlanInstall(const InstallOptions& options) {
  std::vector<text::Json> objects;
  if (!options.is_namespaced) {
    TRY(AddObjects(api::kPyTorchJobDefinition, objects));
    TRY(AddObjects(kDeployRoles, objects));
  }
  if (options.is_crd_only) return objects;
  if (options.is_namespaced) {
    TRY(AddObjects(kDeployNamespacedRbac, objects));
  } else {
    TRY(AddObjects(kDeployNamespace, objects));
    TRY(AddObjects(kDeployRbac, objects));
  }
  TRY(AddObjects(kDeployService, objects));
  if (options.takes_status_posts) TRY(AddObjects(kDeployStatus, objects));
  if (options.has_monitoring) TRY(AddObjects(kDeployServiceMonitor, objects));
  TRY(AddObjects(kDeployDisruption, objects));
  TRY(AddObjects(kDeployDeployment, objects));
  if (!options.is_namespaced) TRY(AddObjects(kDeployWebhook, objects));
  for (text::Json& object : objects) Fit(options, object);
  return objects;
}

bool IsOfDefinition(const text::Json& object) {
  return text::GetString(object, {"kind"}) == "CustomResourceDefinition" ||
         api::Name(object).starts_with("muster-pytorchjobs-");
}

bool IsOurs(const text::Json& object) {
  return api::Label(object, "app.kubernetes.io/managed-by") == "muster" &&
         api::Label(object, "app.kubernetes.io/name") == kOperatorName;
}

}  // namespace arena
