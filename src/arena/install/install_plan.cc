#include "arena/install/install_plan.h"

#include <algorithm>
#include <cstddef>

#include "api/object.h"
#include "api/schema/definition.h"
#include "arena/install/deploy_files.h"
#include "base/strings.h"
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

bool IsSmallOrDigit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool IsTagCharacter(char c) {
  return IsSmallOrDigit(c) || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '-';
}

// "muster", "my.team_x--y"
bool IsPathPart(std::string_view part) {
  return !part.empty() && IsSmallOrDigit(part.front()) && IsSmallOrDigit(part.back()) &&
         std::all_of(part.begin(), part.end(),
                     [](char c) { return IsSmallOrDigit(c) || c == '.' || c == '_' || c == '-'; });
}

// "registry.local:5000", "[::1]:5000", "localhost": what is before the first "/" of an image.
bool IsHost(std::string_view part) {
  const auto is_of_host = [](char c) {
    return IsTagCharacter(c) || c == ':' || c == '[' || c == ']';
  };
  const bool names_one = part.find_first_of(".:") != std::string_view::npos || part == "localhost";
  return names_one && std::all_of(part.begin(), part.end(), is_of_host);
}

}  // namespace

bool IsImageReference(std::string_view text) {
  constexpr size_t kMostOfTag = 128;
  if (const size_t at = text.find('@'); at != std::string_view::npos) {
    const std::string_view digest = text.substr(at + 1);
    const size_t colon = digest.find(':');
    const bool is_digest =
        colon != std::string_view::npos && colon > 0 && digest.size() > colon + 32 &&
        digest.find_first_not_of("0123456789abcdef", colon + 1) == std::string_view::npos;
    if (!is_digest) return false;
    text = text.substr(0, at);
  }
  const size_t colon = text.rfind(':');
  if (colon != std::string_view::npos && text.find('/', colon) == std::string_view::npos) {
    const std::string_view tag = text.substr(colon + 1);
    const bool is_tag = !tag.empty() && tag.size() <= kMostOfTag && tag.front() != '.' &&
                        tag.front() != '-' && std::all_of(tag.begin(), tag.end(), IsTagCharacter);
    if (!is_tag) return false;
    text = text.substr(0, colon);
  }
  const std::vector<std::string> parts = base::Split(text, '/');
  const size_t first = parts.size() > 1 && IsHost(parts.front()) ? 1 : 0;
  return std::all_of(parts.begin() + static_cast<ptrdiff_t>(first), parts.end(), IsPathPart);
}

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
