#include "local/node/devices/gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <thread>

#include "base/strings.h"

namespace local::node {

struct GpuDiscovery::State {
  std::mutex mutex;
  bool is_abandoned = false;
};

GpuDiscovery::GpuDiscovery(gpu::Places places, std::function<void(gpu::Inventory)> on_known)
    : state_(std::make_shared<State>()) {
  std::thread([state = state_, places = std::move(places), callback = std::move(on_known)] {
    gpu::Inventory inventory = gpu::Read(places);
    const std::lock_guard lock(state->mutex);
    if (!state->is_abandoned) callback(std::move(inventory));
  }).detach();
}

GpuDiscovery::~GpuDiscovery() {
  const std::lock_guard lock(state_->mutex);
  state_->is_abandoned = true;
}

GpuAllocator::GpuAllocator(std::string lock_folder) : lock_folder_(std::move(lock_folder)) {}

void GpuAllocator::SetInventory(const gpu::Inventory& inventory) {
  auto state = state_.Lock();
  state->is_known = true;
  state->units = inventory.Units();
  state->vendor = inventory.vendor;
  state->reason = inventory.reason;
  known_.notify_all();
}

bool GpuAllocator::IsKnown() const { return state_.Lock()->is_known; }

bool GpuAllocator::AwaitKnown(std::chrono::milliseconds limit) const {
  auto state = state_.Lock();
  return known_.wait_for(state.lock(), limit, [&state] { return state->is_known; });
}

std::vector<gpu::Unit> GpuAllocator::Units() const { return state_.Lock()->units; }

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

const gpu::Vendor& GpuAllocator::Vendor() const { return *state_.Lock()->vendor; }

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
