// NVIDIA's management library, loaded at run time: muster neither needs it nor links it. The few
// prototypes are declared here as its ABI has them (nvml.h of the driver, stable since R418).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "local/node/devices/gpu.h"

namespace local::node {

// One initialised library. One thread at a time.
class Nvml {
 public:
  // `directory` holds the library; "" is the loader's search path. kNotFound: there is no library,
  // so no driver is installed; kUnavailable: the driver does not answer, with its own words. May
  // take seconds while a driver wakes its GPUs.
  static base::Result<std::unique_ptr<Nvml>> Open(const std::string& directory);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // GPUs that do not answer are left out, and named in `reason`.
  base::Result<GpuInventory> Read();

 private:
  struct Functions;
  Nvml(void* library, std::unique_ptr<Functions> functions);

  base::Result<GpuDevice> ReadDevice(unsigned index);
  std::vector<MigInstance> ReadMigInstances(void* device);
  std::string Words(int code) const;

  void* library_;
  std::unique_ptr<Functions> functions_;
};

}  // namespace local::node
