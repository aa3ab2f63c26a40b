// The machine's GPUs: what there is, and who holds what. A pod is given units: whole GPUs, or the
// MIG instances of a GPU that is divided. A unit's place in GpuInventory::Units() is its index.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/guarded.h"
#include "base/result.h"
#include "local/node/devices/gpu_lock.h"

namespace local::node {

struct MigInstance {
  std::string uuid;  // "MIG-..."
  std::string name;
  int64_t memory_total = 0;  // bytes
  int64_t memory_used = 0;
};

struct GpuDevice {
  int index = 0;     // NVML's: by PCI bus address
  std::string uuid;  // "GPU-..."
  std::string name;
  int64_t memory_total = 0;  // bytes
  int64_t memory_used = 0;
  std::optional<int> utilisation_percent;
  bool is_mig_enabled = false;
  std::vector<MigInstance> mig_instances;
};

struct GpuUnit {
  std::string uuid;
  std::string name;
  int64_t memory_total = 0;
  int device = 0;       // GpuDevice::index
  std::string visible;  // what CUDA_VISIBLE_DEVICES calls it, in PCI order
};

struct GpuInventory {
  std::vector<GpuDevice> devices;
  std::string reason;  // why there are none or fewer, one line
  std::string driver_version;

  std::vector<GpuUnit> Units() const;
};

// Loads NVML, reads, unloads. Whatever goes wrong is an inventory without devices and a reason.
// Blocks, for seconds when the driver has to wake its GPUs. `library_directory`: $MUSTER_NVML, ""
// for the loader's search path.
GpuInventory ReadGpus(const std::string& library_directory);

// ReadGpus on a thread of its own; `on_known` is called from there, once, unless the object is
// gone by then. Its destructor does not wait for a driver that hangs.
class GpuDiscovery {
 public:
  GpuDiscovery(std::string library_directory, std::function<void(GpuInventory)> on_known);
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

  // Until then nothing is known, and nothing can be locked.
  void SetInventory(const GpuInventory& inventory);
  bool IsKnown() const;
  std::vector<GpuUnit> Units() const;
  std::string Reason() const;

  // By unit: who holds its lock, in words, when that is not this object, else "". It may be a pod's
  // shim.
  std::vector<std::string> HoldersElsewhere() const;

  // All of `units` for the pod or, with kUnavailable naming one, none. Already locked for it: fine.
  base::Status Lock(const std::string& pod_uid, const std::vector<int>& units);
  // The pod's locks, to be handed to its shim; the ones not held yet are taken.
  base::Result<std::vector<base::Fd>> Take(const std::string& pod_uid,
                                           const std::vector<int>& units);
  // What Lock took and nobody has taken over.
  void Release(const std::string& pod_uid);

 private:
  struct Held {
    int unit = 0;
    base::Fd lock;
  };
  struct State {
    bool is_known = false;
    std::vector<GpuUnit> units;
    std::string reason;
    std::map<std::string, std::vector<Held>> held;  // by pod uid
  };
  base::Status LockInto(State& state, const std::string& pod_uid, const std::vector<int>& units);

  const std::string lock_folder_;
  mutable base::Guarded<State> state_;
};

// "0,1" <-> {0, 1}; the annotation muster.dev/gpus. Malformed parts are left out.
std::string FormatUnits(const std::vector<int>& units);
std::vector<int> ParseUnits(std::string_view text);

}  // namespace local::node
