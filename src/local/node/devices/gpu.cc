#include "local/node/devices/gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <thread>

#include "base/strings.h"
#include "local/node/devices/nvml.h"

namespace local::node {

std::vector<GpuUnit> GpuInventory::Units() const {
  // CUDA counts the GPUs that it can use; where NVML's count has holes the indices differ, and only
  // the uuid is safe. Else the index: more programs understand it.
  bool has_holes = false;
  for (size_t i = 0; i < devices.size(); ++i) {
    has_holes |= devices[i].index != static_cast<int>(i) || devices[i].is_mig_enabled;
  }
  std::vector<GpuUnit> units;
  for (const GpuDevice& device : devices) {
    if (!device.is_mig_enabled) {
      units.push_back({device.uuid, device.name, device.memory_total, device.index,
                       has_holes ? device.uuid : std::to_string(device.index)});
      continue;
    }
    for (const MigInstance& instance : device.mig_instances) {
      units.push_back(
          {instance.uuid, instance.name, instance.memory_total, device.index, instance.uuid});
    }
  }
  return units;
}

GpuInventory ReadGpus(const std::string& library_directory) {
  GpuInventory none;
  auto nvml = Nvml::Open(library_directory);
  if (!nvml) {
    none.reason = nvml.error().message;
    return none;
  }
  auto inventory = (*nvml)->Read();
  if (!inventory) {
    none.reason = inventory.error().message;
    return none;
  }
  if (inventory->reason.empty() && !inventory->devices.empty() && inventory->Units().empty()) {
    inventory->reason = "MIG is enabled and no MIG instance exists";
  }
  return std::move(*inventory);
}

struct GpuDiscovery::State {
  std::mutex mutex;
  bool is_abandoned = false;
};

GpuDiscovery::GpuDiscovery(std::string library_directory,
                           std::function<void(GpuInventory)> on_known)
    : state_(std::make_shared<State>()) {
  std::thread([state = state_, directory = std::move(library_directory),
               callback = std::move(on_known)] {
    GpuInventory inventory = ReadGpus(directory);
    const std::lock_guard lock(state->mutex);
    if (!state->is_abandoned) callback(std::move(inventory));
  }).detach();
}

GpuDiscovery::~GpuDiscovery() {
  const std::lock_guard lock(state_->mutex);
  state_->is_abandoned = true;
}

GpuAllocator::GpuAllocator(std::string lock_folder) : lock_folder_(std::move(lock_folder)) {}

void GpuAllocator::SetInventory(const GpuInventory& inventory) {
  auto state = state_.Lock();
  state->is_known = true;
  state->units = inventory.Units();
  state->reason = inventory.reason;
}

bool GpuAllocator::IsKnown() const { return state_.Lock()->is_known; }

std::vector<GpuUnit> GpuAllocator::Units() const { return state_.Lock()->units; }

std::string GpuAllocator::Reason() const { return state_.Lock()->reason; }

std::vector<std::string> GpuAllocator::HoldersElsewhere() const {
  auto state = state_.Lock();
  std::vector<std::string> holders(state->units.size());
  if (holders.empty()) return holders;
  const std::map<std::string, uid_t> by_unit = GpuHolders(lock_folder_);
  for (size_t i = 0; i < holders.size(); ++i) {
    const auto holder = by_unit.find(state->units[i].uuid);
    if (holder != by_unit.end()) holders[i] = DescribeHolder(holder->second);
  }
  for (const auto& [pod_uid, held] : state->held) {
    for (const Held& one : held) holders[static_cast<size_t>(one.unit)].clear();
  }
  return holders;
}

base::Status GpuAllocator::LockInto(State& state, const std::string& pod_uid,
                                    const std::vector<int>& units) {
  std::vector<Held> taken;
  std::vector<Held>& held = state.held[pod_uid];
  base::Status status;
  for (int unit : units) {
    const auto has_it = [unit](const Held& one) { return one.unit == unit; };
    if (std::any_of(held.begin(), held.end(), has_it)) continue;
    if (unit < 0 || static_cast<size_t>(unit) >= state.units.size()) {
      status = base::Fail(base::Code::kNotFound, fmt::format("this machine has no GPU {}", unit));
      break;
    }
    auto lock = LockGpu(lock_folder_, state.units[static_cast<size_t>(unit)].uuid,
                        fmt::format("pod {}", pod_uid));
    if (!lock) {
      status = base::Fail(lock.error().Wrap(fmt::format("GPU {}", unit)));
      break;
    }
    taken.push_back({unit, std::move(*lock)});
  }
  if (status) std::move(taken.begin(), taken.end(), std::back_inserter(held));
  if (held.empty()) state.held.erase(pod_uid);
  return status;
}

base::Status GpuAllocator::Lock(const std::string& pod_uid, const std::vector<int>& units) {
  return LockInto(*state_.Lock(), pod_uid, units);
}

base::Result<std::vector<base::Fd>> GpuAllocator::Take(const std::string& pod_uid,
                                                       const std::vector<int>& units) {
  auto state = state_.Lock();
  TRY(LockInto(*state, pod_uid, units));
  std::vector<base::Fd> locks;
  if (const auto it = state->held.find(pod_uid); it != state->held.end()) {
    for (Held& one : it->second) locks.push_back(std::move(one.lock));
    state->held.erase(it);
  }
  return locks;
}

void GpuAllocator::Release(const std::string& pod_uid) { state_.Lock()->held.erase(pod_uid); }

std::string FormatUnits(const std::vector<int>& units) {
  return fmt::format("{}", fmt::join(units, ","));
}

std::vector<int> ParseUnits(std::string_view text) {
  std::vector<int> units;
  for (const std::string& part : base::Split(text, ',')) {
    const std::optional<int64_t> unit = base::ParseInt(part);
    if (unit && *unit >= 0 && *unit <= 4096) units.push_back(static_cast<int>(*unit));
  }
  return units;
}

}  // namespace local::node
