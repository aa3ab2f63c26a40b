// NVIDIA's GPUs, by what its driver shows in /proc and /dev.
#include <algorithm>
#include <array>
#include <filesystem>

#include "base/strings.h"
#include "launch/machine/gpu_vendor.h"

namespace launch {
namespace {

constexpr std::array<std::string_view, 2> kNvidiaNames = {"GPU-", "MIG-"};

// In the order of CUDA_DEVICE_ORDER=PCI_BUS_ID. Where the driver lists none, as in some containers,
// /dev/nvidia0 and so on are counted.
std::vector<std::string> NvidiaGpus(const std::string& root) {
  std::vector<std::string> found;
  std::error_code failed;
  for (const auto& entry :
       std::filesystem::directory_iterator(root + "/proc/driver/nvidia/gpus", failed)) {
    found.push_back(entry.path().filename().string());
  }
  std::sort(found.begin(), found.end());
  if (!found.empty()) return found;
  for (const auto& entry : std::filesystem::directory_iterator(root + "/dev", failed)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("nvidia") && base::ParseInt(std::string_view(name).substr(6))) {
      found.emplace_back();
    }
  }
  return found;
}

int VisibleNvidiaGpus(int installed, const base::Environment& environment) {
  const std::string* const list = DeviceList(environment, "CUDA_VISIBLE_DEVICES");
  return list != nullptr ? CountKnown(*list, installed, kNvidiaNames) : installed;
}

}  // namespace

const GpuVendor kNvidia = {"NVIDIA", NvidiaGpus, VisibleNvidiaGpus};

}  // namespace launch
