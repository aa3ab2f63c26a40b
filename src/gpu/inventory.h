// The GPUs of the machine, of one vendor. A pod gets units: whole GPUs, or the parts of a divided
// GPU (NVIDIA's MIG). A unit's position in Inventory::Units() is its index.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"

namespace gpu {

struct Vendor;
extern const Vendor kNvidia;

// A driver's counts of a GPU's troubles; empty if it does not report them.
struct Health {
  std::optional<int64_t> uncorrected;  // memory errors since the driver was loaded
  std::optional<int64_t> uncorrected_in_life;
  bool is_remap_pending = false;  // of rows or pages of its memory, pending until the next reset
  bool has_remap_failed = false;
  std::vector<std::string_view> slowdowns;  // of its clocks, now: "thermal slowdown"
};

struct MigInstance {
  std::string uuid;  // "MIG-..."
  std::string name;
  int64_t memory_total = 0;  // bytes
  int64_t memory_used = 0;
};

struct Device {
  int index = 0;     // in the order of the vendor's runtime
  std::string uuid;  // "GPU-..."
  std::string name;
  int64_t memory_total = 0;  // bytes
  int64_t memory_used = 0;
  std::optional<int> utilisation_percent;
  bool is_mig_enabled = false;
  std::vector<MigInstance> mig_instances;
  Health health{};
};

// "GPU 1 (NVIDIA H100): 2 uncorrected memory errors while the job ran": one line for each trouble.
// `before`: the same device when the job began; nullptr if that is unknown, in which case error
// counts are left out.
std::vector<std::string> TroublesOf(const Device& device, const Device* before);

struct Unit {
  std::string uuid;
  std::string name;
  int64_t memory_total = 0;
  int device = 0;       // Device::index
  std::string visible;  // its name in the variable that selects a program's GPUs
  std::string label;    // its name for people: "0", or "0:1" for a part of a GPU
  int64_t memory_used = 0;
  std::optional<int> utilisation_percent{};  // none: the driver has none, as for a part of a GPU
};

struct Inventory {
  std::vector<Device> devices;
  std::string reason;  // why there are none or fewer, one line
  std::string driver_version;
  const Vendor* vendor = &kNvidia;

  std::vector<Unit> Units() const;
};

// Where the vendors' drivers are looked for.
struct Places {
  std::string nvml_folder{};  // of NVIDIA's library; "" is the loader's search path
  std::string root{};         // parent of the files that the kernel shows; "" is the machine's own

  // MUSTER_NVML and MUSTER_GPU_ROOT.
  static Places Of(const base::Environment& environment);
};

// The GPUs of the first vendor that has any. Every failure results in an inventory without devices
// and a reason. Blocks, for seconds when a driver has to wake its GPUs.
Inventory Read(const Places& places);

}  // namespace gpu
