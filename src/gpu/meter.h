// How busy the machine's GPUs are, looked at again and again.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "gpu/inventory.h"

namespace gpu {

// Percent of the driver's last sample, by unit (Inventory::Units); nullopt for what the driver does
// not tell, as of the parts of a divided GPU. Empty if a GPU does not answer: the units of the
// others are not known then.
using BusyUnits = std::vector<std::optional<int>>;
BusyUnits BusyOf(const Inventory& inventory);

// Reads on a thread of its own, which ends, and lets go of the driver, some seconds after the last
// look: a driver that hangs holds up neither Look nor the destructor. Thread safe.
class Meter {
 public:
  explicit Meter(Places places);
  ~Meter();
  // The last look's readings, and begins the next reading. Empty before the first one, and where
  // the driver has not answered for some seconds, or leaves out a GPU.
  BusyUnits Look();

 private:
  struct State;
  static void Read(const std::shared_ptr<State>& state);

  const std::shared_ptr<State> state_;
};

}  // namespace gpu
