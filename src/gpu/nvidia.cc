// NVIDIA's GPUs, from what its driver shows in /proc and /dev; nvml.cc reads them.
#include <algorithm>
#include <array>
#include <filesystem>

#include "base/strings.h"
#include "gpu/vendor.h"

namespace gpu {
namespace {

constexpr std::array<std::string_view, 2> kNvidiaNames = {"GPU-", "MIG-"};

// In the order of CUDA_DEVICE_ORDER=PCI_BUS_ID. If the driver lists none, as in some containers,
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

// NVML and CUDA agree on indices in PCI order only.
Variables ShowNvidiaGpus(const std::vector<std::string>& units) {
  return {{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}, {"CUDA_VISIBLE_DEVICES", base::Join(units, ",")}};
}

Variables HideNvidiaGpus(const base::Environment& environment) {
  const std::string asked = environment.GetOr("NVIDIA_VISIBLE_DEVICES", "void");
  const bool is_said = DeviceList(environment, "CUDA_VISIBLE_DEVICES") != nullptr;
  if (is_said || (asked != "void" && asked != "none")) return {};
  return {{"CUDA_VISIBLE_DEVICES", ""}, {"NVIDIA_VISIBLE_DEVICES", "void"}};
}

}  // namespace

const Vendor kNvidia = {.name = "NVIDIA",
                        .resource = "nvidia.com/gpu",
                        .device = "/dev/nvidia",
                        .product_label = "nvidia.com/gpu.product",
                        .installed = NvidiaGpus,
                        .visible = VisibleNvidiaGpus,
                        .shown = ShowNvidiaGpus,
                        .hidden = HideNvidiaGpus};

}  // namespace gpu
