#include "gpu/inventory.h"

#include <fmt/format.h>

#include "gpu/vendor.h"

namespace gpu {

std::vector<Unit> Inventory::Units() const {
  // A runtime counts only the GPUs that it can use. If the driver's numbers have gaps, the indices
  // differ, and only the uuid is safe; otherwise the index, which more programs understand.
  bool has_holes = false;
  for (size_t i = 0; i < devices.size(); ++i) {
    has_holes |= devices[i].index != static_cast<int>(i) || devices[i].is_mig_enabled;
  }
  std::vector<Unit> units;
  for (const Device& device : devices) {
    const std::string label = std::to_string(device.index);
    if (!device.is_mig_enabled) {
      units.push_back({device.uuid, device.name, device.memory_total, device.index,
                       has_holes ? device.uuid : label, label, device.memory_used,
                       device.utilisation_percent});
      continue;
    }
    int number = 0;
    for (const MigInstance& instance : device.mig_instances) {
      units.push_back({instance.uuid, instance.name, instance.memory_total, device.index,
                       instance.uuid, fmt::format("{}:{}", label, number++), instance.memory_used});
    }
  }
  return units;
}

std::vector<std::string> TroublesOf(const Device& device, const Device* before) {
  const std::string who = fmt::format("GPU {} ({}): ", device.index, device.name);
  const Health& health = device.health;
  std::vector<std::string> troubles;
  if (before != nullptr && health.uncorrected && before->health.uncorrected &&
      *health.uncorrected > *before->health.uncorrected) {
    troubles.push_back(fmt::format(
        "{}{} uncorrected memory errors while the job ran, {} since the driver was loaded", who,
        *health.uncorrected - *before->health.uncorrected, *health.uncorrected));
  }
  if (health.is_remap_pending) {
    troubles.push_back(who + "a part of its memory is to be replaced at its next reset");
  }
  if (health.has_remap_failed) {
    troubles.push_back(who + "a part of its memory is broken, and there is no spare one");
  }
  for (const std::string_view slowdown : health.slowdowns) {
    troubles.push_back(fmt::format("{}its clocks are slowed ({})", who, slowdown));
  }
  return troubles;
}

Places Places::Of(const base::Environment& environment) {
  return {environment.GetOr("MUSTER_NVML", ""), environment.GetOr("MUSTER_GPU_ROOT", "")};
}

Inventory Read(const Places& places) {
  std::string reason;
  for (const Reader read : kReaders) {
    Inventory inventory = read(places);
    if (!inventory.devices.empty()) return inventory;
    if (!inventory.reason.empty()) reason = std::move(inventory.reason);
  }
  Inventory none;
  none.reason = std::move(reason);
  return none;
}

}  // namespace gpu
