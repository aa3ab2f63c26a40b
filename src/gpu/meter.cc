#include "gpu/meter.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "gpu/vendor.h"

namespace gpu {
namespace {

using Instant = std::chrono::steady_clock::time_point;
constexpr std::chrono::seconds kStale{5};
constexpr std::chrono::milliseconds kBetween{700};  // at least, between two readings

}  // namespace

BusyUnits BusyOf(const Inventory& inventory) {
  BusyUnits busy;
  if (!inventory.reason.empty()) return busy;  // a GPU that does not answer has no place
  for (const Unit& unit : inventory.Units()) busy.push_back(unit.utilisation_percent);
  return busy;
}

struct Meter::State {
  explicit State(Places where) : places(std::move(where)) {}

  const Places places;
  std::mutex mutex;  // guards the members below
  std::condition_variable looked;
  uint64_t looks = 0;
  bool is_reading = false;  // a thread is
  bool is_abandoned = false;
  BusyUnits busy;
  Instant read_at{};
};

Meter::Meter(Places places) : state_(std::make_shared<State>(std::move(places))) {}

Meter::~Meter() {
  const std::lock_guard lock(state_->mutex);
  state_->is_abandoned = true;
  state_->looked.notify_all();
}

BusyUnits Meter::Look() {
  const std::lock_guard lock(state_->mutex);
  ++state_->looks;
  state_->looked.notify_all();
  if (!std::exchange(state_->is_reading, true)) {
    try {
      std::thread(Read, state_).detach();
    } catch (const std::system_error&) {  // the machine has no thread left
      state_->is_reading = false;
    }
  }
  return std::chrono::steady_clock::now() - state_->read_at < kStale ? state_->busy : BusyUnits();
}

void Meter::Read(const std::shared_ptr<State>& state) {
  std::function<Inventory()> nvidia = OpenNvidia(state->places);
  std::unique_lock lock(state->mutex);
  while (!state->is_abandoned) {
    const uint64_t seen = state->looks;
    lock.unlock();
    Inventory inventory = nvidia();
    if (inventory.devices.empty()) {
      nvidia = OpenNvidia(state->places);
      for (const Reader read : kReaders) {
        if (read != ReadNvidia && inventory.devices.empty()) inventory = read(state->places);
      }
    }
    lock.lock();
    state->busy = BusyOf(inventory);
    state->read_at = std::chrono::steady_clock::now();
    state->looked.wait_for(lock, kBetween, [&] { return state->is_abandoned; });
    const bool is_asked = state->looked.wait_for(
        lock, kStale, [&] { return state->is_abandoned || state->looks != seen; });
    if (!is_asked) break;
  }
  state->is_reading = false;
}

}  // namespace gpu
