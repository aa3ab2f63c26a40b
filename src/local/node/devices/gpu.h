// The holders of the machine's GPUs (gpu/inventory.h). A unit's position in gpu::Inventory::Units()
// is its index.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/guarded.h"
#include "base/result.h"
#include "gpu/inventory.h"
#include "gpu/vendor.h"
#include "local/node/devices/gpu_lock.h"

namespace local::node {

// gpu::Read on a thread of its own; `on_known` is called from there, once, unless the object is
// gone by then. Its destructor does not wait for a driver that hangs.
class GpuDiscovery {
 public:
  GpuDiscovery(gpu::Places places, std::function<void(gpu::Inventory)> on_known);
  ~GpuDiscovery();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Locks units for pods, machine-wide: another user's muster sees them. Thread safe.
class GpuAllocator {
 public:
  // `lock_folder`: gpu_lock.h.
  explicit GpuAllocator(std::string lock_folder = GpuLockFolder());

  // Before the first call nothing is known, and nothing can be locked.
  void SetInventory(const gpu::Inventory& inventory);
  bool IsKnown() const;
  // Blocks until the GPUs are known, for at most `limit`; returns whether they are.
  bool AwaitKnown(std::chrono::milliseconds limit) const;
  std::vector<gpu::Unit> Units() const;
  std::string Reason() const;
  // The GPUs' vendor; NVIDIA until they are known.
  const gpu::Vendor& Vendor() const;

  // By unit: who holds its lock, in words, if another process does; else "". It may be a pod's
  // shim.
  std::vector<std::string> HoldersElsewhere() const;

  // Locks all of `units` for the pod or, with kUnavailable naming one, none. Units that the pod has
  // locked already are not an error.
  base::Status Lock(const std::string& pod_uid, const std::vector<int>& units);
  // The pod's locks, to be handed to its shim; missing ones are taken.
  base::Result<std::vector<base::Fd>> Take(const std::string& pod_uid,
                                           const std::vector<int>& units);
  // Releases the locks that Lock took and no shim has taken over.
  void Release(const std::string& pod_uid);

 private:
  struct Held {
    int unit = 0;
    base::Fd lock;
  };
  struct State {
    bool is_known = false;
    const gpu::Vendor* vendor = &gpu::kNvidia;
    std::vector<gpu::Unit> units;
    std::string reason;
    std::map<std::string, std::vector<Held>> held;  // by pod uid
  };
  base::Status LockInto(State& state, const std::string& pod_uid, const std::vector<int>& units);

  const std::string lock_folder_;
  mutable base::Guarded<State> state_;
  mutable std::condition_variable known_;
};

// "0,1" <-> {0, 1}; the annotation muster.dev/gpus. Malformed parts are left out.
std::string FormatUnits(const std::vector<int>& units);
std::vector<int> ParseUnits(std::string_view text);

}  // namespace local::node
