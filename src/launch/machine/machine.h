// What the launcher must know of the machine it runs on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "base/result.h"

namespace launch {

// CPUs that this process may use.
int UsableCpus();
int UsableXpus();

// What a GPU's number means to the workers: HIP_VISIBLE_DEVICES when it is set, which goes before
// CUDA_VISIBLE_DEVICES on ROCm.
struct VisibleDevices {
  std::string variable;
  bool are_named = false;  // the variable is set, even to ""
  std::vector<std::string> devices;
};
VisibleDevices VisibleDevicesOf(const base::Environment& environment);

// --nproc-per-node: a number above 0, cpu, gpu, xpu or auto. kInvalidArgument otherwise, and when
// the device is missing.
base::Result<int> CountProcesses(std::string_view text, const base::Environment& environment);

// Pins the calling thread, and what it starts, to the CPUs that `how` (--numa-binding) gives the
// worker `local_rank` of `count`; the destructor takes it back. Where the machine has one NUMA node
// only, node and socket mean all its CPUs.
class CpuBinding {
 public:
  CpuBinding(std::string_view how, int local_rank, int count, const base::Environment& environment);
  ~CpuBinding();
  CpuBinding(const CpuBinding&) = delete;
  CpuBinding& operator=(const CpuBinding&) = delete;

 private:
  std::vector<int> before_;
};

// The CPUs of "0-3,8"; empty when malformed.
std::vector<int> ParseCpuList(std::string_view text);

}  // namespace launch
