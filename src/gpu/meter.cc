#include "gpu/meter.h"

#include <chrono>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "gpu/vendor.h"

namespace gpu {
namespace {

using Instant = std::chrono::steady_clock::time_point;
constexpr std::chrono::seconds kStale{5};

}  // namespace

BusyUnits BusyOf(const Inventory& inventory) {
  BusyUnits busy;
  for (const Device& device : inventory.devices) {
    if (device.is_mig_enabled) {
      busy.resize(busy.size() + device.mig_instances.size());
    } else {
      busy.push_back(device.utilisation_percent);
    }
  }
  return busy;
}

struct Meter::State {
  explicit State(Places where) : places(std::move(where)) {}

  const Places places;
  std::function<Inventory()> nvidia;  // used by the reading thread only
  std::mutex mutex;                   // guards the members below
  bool is_reading = false;
  BusyUnits busy;
  Instant read_at{};
};

Meter::Meter(Places places) : state_(std::make_shared<State>(std::move(places))) {}

BusyUnits Meter::Look() {
  const std::lock_guard lock(state_->mutex);
  if (!std::exchange(state_->is_reading, true)) std::thread(Read, state_).detach();
  return std::chrono::steady_clock::now() - state_->read_at < kStale ? state_->busy : BusyUnits();
}

void Meter::Read(const std::shared_ptr<State>& state) {
  if (!state->nvidia) state->nvidia = OpenNvidia(state->places);
  Inventory inventory = state->nvidia();
  if (inventory.devices.empty()) {
    state->nvidia = nullptr;
    inventory = ReadAmd(state->places);
  }
  const std::lock_guard lock(state->mutex);
  state->busy = BusyOf(inventory);
  state->read_at = std::chrono::steady_clock::now();
  state->is_reading = false;
}

}  // namespace gpu
