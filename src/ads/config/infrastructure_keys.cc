#include "ads/config/infrastructure_keys.h"

#include <string>
#include <utility>
#include <vector>

#include "base/strings.h"

namespace ads {
namespace {

constexpr InfrastructureKey kKeys[] = {
    {"projectId", "project_id"},
    {"compartmentId", "compartment_id"},
    {"displayName", "display_name"},
    {"logGroupId", "log_group_id"},
    {"logId", "log_id"},
    {"subnetId", "subnet_id"},
    {"shapeName", "shape_name"},
    {"blockStorageSize", "block_storage_size"},
    {"blockStorageSize", "block_storage_size_in_gbs"},
    {"shapeConfigDetails", "shape_config_details"},
    {"shapeConfigDetails", "job_shape_config_details"},
    {"jobType", "job_type"},
    {"jobInfrastructureType", "job_infrastructure_type"},
    {"storageMount", "storage_mount"},
    {"freeformTags", "freeform_tags"},
    {"definedTags", "defined_tags"},
    // Keys of shapeConfigDetails.
    {"memoryInGBs", "memory_in_gbs"},
    {"ocpus", "ocpus"},
};

// "" when the key is the service's name already, or unknown.
std::string_view CamelOf(const std::string& key) {
  const std::string lower = base::ToLower(key);
  std::string_view camel;
  for (const InfrastructureKey& known : kKeys) {
    if (known.camel == key) return {};
    if (known.snake == lower) camel = known.camel;
  }
  return camel;
}

}  // namespace

std::span<const InfrastructureKey> InfrastructureKeys() { return kKeys; }

void NameInfrastructure(PyValue& spec) {
  std::vector<std::string> keys;
  for (const PyValue::Member& member : spec.members) {
    if (member.is_text()) keys.push_back(member.key);
  }
  for (const std::string& key : keys) {
    const std::string_view camel = CamelOf(key);
    const PyValue* const found = camel.empty() ? nullptr : spec.Find(key);
    if (found == nullptr) continue;
    PyValue value = *found;
    spec.Erase(key);
    if (value.is_map()) NameInfrastructure(value);
    spec.Set(std::string(camel), std::move(value));
  }
}

std::optional<int64_t> StorageSizeOf(const PyValue& size) {
  if (size.kind == PyValue::Kind::kInt) return base::ParseInt(size.text);
  if (!size.is_string()) return std::nullopt;
  std::string_view text = base::Trim(size.text);
  if (base::ToUpper(text).ends_with("GB")) text.remove_suffix(2);
  return base::ParseInt(base::Trim(text));
}

}  // namespace ads
