// What the launcher needs to know about its machine.
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

// Which GPUs the workers see: HIP_VISIBLE_DEVICES if it is set, which wins over
// CUDA_VISIBLE_DEVICES on ROCm.
struct VisibleDevices {
  std::string variable;
  bool are_named = false;  // the variable is set, even to ""
  std::vector<std::string> devices;
};
VisibleDevices VisibleDevicesOf(const base::Environment& environment);

// Reads --nproc-per-node: a number above 0, cpu, gpu, xpu or auto. kInvalidArgument for other
// values, and if the device is missing.
base::Result<int> CountProcesses(std::string_view text, const base::Environment& environment);

// Pins the calling thread, and what it starts, to the CPUs that `how` (--numa-binding) assigns to
// worker `local_rank` of `count`, until destroyed. On a machine with a single NUMA node, node and
// socket mean all its CPUs.
class CpuBinding {
 public:
  CpuBinding(std::string_view how, int local_rank, int count, const base::Environment& environment);
  ~CpuBinding();
  CpuBinding(const CpuBinding&) = delete;
  CpuBinding& operator=(const CpuBinding&) = delete;

 private:
  std::vector<int> before_;
};

// The CPUs in "0-3,8"; empty if malformed.
std::vector<int> ParseCpuList(std::string_view text);

}  // namespace launch
