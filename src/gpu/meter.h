// Samples how busy the machine's GPUs are.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "gpu/inventory.h"

namespace gpu {

// Percent, from the driver's last sample, by unit (Inventory::Units); nullopt where the driver does
// not report it, as for the parts of a divided GPU. Empty if a GPU does not answer, because the
// units of the others are not known then.
using BusyUnits = std::vector<std::optional<int>>;
BusyUnits BusyOf(const Inventory& inventory);

// Reads on a thread of its own, so that a driver that hangs holds up neither Look nor the
// destructor. The thread ends, and releases the driver, some seconds after the last look. Thread
// safe.
class Meter {
 public:
  explicit Meter(Places places);
  ~Meter();
  // Returns the newest readings, and asks for the next ones. Empty before the first ones, and where
  // the driver has not answered for some seconds, or leaves out a GPU.
  BusyUnits Look();

 private:
  struct State;
  static void Read(const std::shared_ptr<State>& state);

  const std::shared_ptr<State> state_;
};

}  // namespace gpu
