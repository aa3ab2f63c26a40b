#include "gpu/vendor.h"

#include <algorithm>

#include "base/strings.h"

namespace gpu {

const Vendor* InstalledVendor(const std::string& root) {
  const auto found = std::find_if(kVendors.begin(), kVendors.end(), [&root](const Vendor* vendor) {
    return !vendor->installed(root).empty();
  });
  return found == kVendors.end() ? nullptr : *found;
}

bool IsResource(std::string_view name) {
  return std::any_of(kVendors.begin(), kVendors.end(),
                     [name](const Vendor* vendor) { return vendor->resource == name; });
}

bool IsDevice(std::string_view path) {
  return std::any_of(kVendors.begin(), kVendors.end(),
                     [path](const Vendor* vendor) { return path.starts_with(vendor->device); });
}

int UsableGpus(const base::Environment& environment, const std::string& root) {
  const Vendor* const vendor = InstalledVendor(root);
  if (vendor == nullptr) return 0;
  return vendor->visible(static_cast<int>(vendor->installed(root).size()), environment);
}

const std::string* DeviceList(const base::Environment& environment, const std::string& variable) {
  const auto found = environment.values().find(variable);
  return found == environment.values().end() ? nullptr : &found->second;
}

int CountKnown(std::string_view list, int installed, std::span<const std::string_view> names) {
  int count = 0;
  for (const std::string& device : base::Split(list, ',')) {
    const std::string_view name = base::Trim(device);
    const auto number = base::ParseInt(name);
    const bool is_known =
        number ? *number >= 0 && *number < installed
               : std::any_of(
                     names.begin(), names.end(),
                     [name](std::string_view begin) { return name.starts_with(begin); });
    if (!is_known) break;
    ++count;
  }
  return count;
}

}  // namespace gpu
