#include <fmt/format.h>

#include <algorithm>

#include "api/job/pytorch_job.h"
#include "api/names.h"

namespace api {
namespace {

// Equals Go's %q for all characters that a Kubernetes value can contain: JSON escapes the same ones
// the same way.
std::string Quote(std::string_view value) { return text::ToJson(text::Json(value)); }

// nullptr when absent or null: the API server prunes nulls before its webhooks see the object.
const text::Json* FindSet(const text::Json& object, text::Path path) {
  const text::Json* const found = text::Find(object, path);
  return found == nullptr || found->is_null() ? nullptr : found;
}

void CheckName(const text::Json& object, std::vector<std::string>& errors) {
  const std::string_view name = text::GetString(object, {"metadata", "name"});
  std::string why;
  if (name.size() > kMaxLabelLength) {
    why = fmt::format("must be no more than {} characters", kMaxLabelLength);
  }
  if (!IsDns1035Label(name)) {
    if (!why.empty()) why += ',';
    why +=
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
        "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "
        "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
  }
  if (why.empty()) return;
  errors.push_back(
      fmt::format("metadata.name: Invalid value: {}: should match: {}", Quote(name), why));
}

// The first pod of each type has a service of the same name, which must be a DNS label.
void CheckServiceName(const text::Json& object, std::string_view type,
                      std::vector<std::string>& errors) {
  const std::string_view job = text::GetString(object, {"metadata", "name"});
  const std::string service = ReplicaName(job, type, 0);
  if (service.size() <= kMaxLabelLength || job.size() > kMaxLabelLength) return;
  errors.push_back(fmt::format(
      "metadata.name: Invalid value: {}: must be no more than {} characters: the job's service {} "
      "would have a name of {}, and {} are possible",
      Quote(job), kMaxLabelLength - (service.size() - job.size()), service, service.size(),
      kMaxLabelLength));
}

void CheckManagedBy(const text::Json& object, const text::Json* old,
                    std::vector<std::string>& errors) {
  const text::Path path = {"spec", "runPolicy", "managedBy"};
  const text::Json* const manager = FindSet(object, path);
  if (old != nullptr) {
    const text::Json* const before = FindSet(*old, path);
    const bool is_same =
        (manager == nullptr) == (before == nullptr) && (manager == nullptr || *manager == *before);
    if (!is_same) {
      errors.push_back(fmt::format(
          "spec.runPolicy.managedBy: Invalid value: {}: field is immutable",
          manager != nullptr ? Quote(text::GetString(*manager, {})) : std::string("\"null\"")));
    }
  }
  if (manager == nullptr) return;
  const std::string_view name = text::GetString(*manager, {});
  if (name != kManagedByUs && name != kManagedByMultiKueue) {
    errors.push_back(fmt::format(
        "spec.runPolicy.managedBy: Unsupported value: {}: supported values: \"{}\", \"{}\"",
        Quote(name), kManagedByUs, kManagedByMultiKueue));
  }
}

void CheckElastic(const text::Json& object, Validation& out) {
  if (FindSet(object, {"spec", "elasticPolicy"}) == nullptr) return;
  if (FindSet(object, {"spec", "pytorchReplicaSpecs", kWorker}) == nullptr) {
    out.errors.emplace_back(
        "spec.pytorchReplicaSpecs[Worker]: Required value: must be configured if elastic policy is "
        "used");
  }
  if (FindSet(object, {"spec", "elasticPolicy", "nProcPerNode"}) == nullptr) return;
  out.warnings.emplace_back(
      "spec.elasticPolicy.nProcPerNode is deprecated, use spec.nprocPerNode instead");
  if (FindSet(object, {"spec", "nprocPerNode"}) != nullptr) {
    out.errors.emplace_back(
        "spec.elasticPolicy.nProcPerNode: Forbidden: must not be used with spec.nprocPerNode");
  }
}

void CheckReplicaSpec(std::string_view type, const text::Json& spec,
                      std::vector<std::string>& errors) {
  const std::string role = fmt::format("spec.pytorchReplicaSpecs[{}]", type);
  const std::string containers_path = role + ".template.spec.containers";
  if (type != kMaster && type != kWorker) {
    errors.push_back(fmt::format(
        "{}: Unsupported value: {}: supported values: \"Master\", \"Worker\"", role, Quote(type)));
  }
  const text::Array& containers = text::Items(spec, {"template", "spec", "containers"});
  if (containers.empty()) {
    errors.push_back(containers_path + ": Required value: must be specified");
  }
  bool has_main = false;
  for (size_t i = 0; i < containers.size(); ++i) {
    if (text::GetString(containers[i], {"image"}).empty()) {
      errors.push_back(
          fmt::format("{}[{}].image: Required value: must be required", containers_path, i));
    }
    has_main |= text::GetString(containers[i], {"name"}) == kContainerName;
  }
  if (!has_main) {
    errors.push_back(
        fmt::format("{}: Required value: must have at least one container with name {}",
                    containers_path, kContainerName));
  }
  const std::optional<int64_t> replicas = text::GetInt(spec, {"replicas"});
  if (type == kMaster && replicas != 1) {
    errors.push_back(role + ".replicas: Forbidden: must be 1");
  } else if (type == kWorker && replicas && *replicas < 1) {
    errors.push_back(role + ".replicas: Forbidden: must be at least 1");
  }
}

}  // namespace

std::string JoinErrors(const std::vector<std::string>& errors) {
  std::vector<std::string> distinct;
  for (const std::string& error : errors) {
    if (std::find(distinct.begin(), distinct.end(), error) == distinct.end()) {
      distinct.push_back(error);
    }
  }
  if (distinct.size() == 1) return distinct.front();
  return fmt::format("[{}]", fmt::join(distinct, ", "));
}

Validation ValidatePyTorchJob(const text::Json& object, const text::Json* old,
                              FieldValidation fields) {
  Validation out;
  CheckName(object, out.errors);
  CheckManagedBy(object, old, out.errors);
  CheckElastic(object, out);
  const text::Object* const specs = text::FindObject(object, {"spec", "pytorchReplicaSpecs"});
  if (specs == nullptr) {
    out.errors.emplace_back("spec.pytorchReplicaSpecs: Required value: must be required");
    return out;
  }
  for (const auto& [type, spec] : *specs) {
    if (spec.is_null()) continue;
    CheckReplicaSpec(type, spec, out.errors);
    if (old == nullptr) CheckServiceName(object, type, out.errors);
  }
  if (fields == FieldValidation::kIgnore) return out;
  auto& messages = fields == FieldValidation::kStrict ? out.errors : out.warnings;
  for (std::string& unknown : UnknownTemplateFields(object, old))
    messages.push_back(std::move(unknown));
  return out;
}

}  // namespace api
