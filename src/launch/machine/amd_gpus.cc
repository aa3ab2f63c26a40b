// AMD's GPUs, by the topology that its kernel driver (amdkfd) shows in /sys: what ROCm counts.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <map>

#include "base/file.h"
#include "base/strings.h"
#include "launch/machine/gpu_vendor.h"

namespace launch {
namespace {

constexpr size_t kMaxProperties = 64 << 10;
constexpr std::array<std::string_view, 1> kAmdNames = {"GPU-"};

// "simd_count 304" a line. Empty where a container is not given the device: it may not be read.
std::map<std::string, int64_t> PropertiesIn(const std::string& path) {
  std::map<std::string, int64_t> properties;
  const auto text = base::ReadFile(path, kMaxProperties);
  if (!text) return properties;
  for (const std::string& line : base::Split(*text, '\n')) {
    const size_t gap = line.find(' ');
    if (gap == std::string::npos) continue;
    const auto value = base::ParseInt(base::Trim(std::string_view(line).substr(gap)));
    if (value) properties[line.substr(0, gap)] = *value;
  }
  return properties;
}

std::string AddressOf(const std::map<std::string, int64_t>& properties) {
  const auto location = properties.find("location_id");
  if (location == properties.end()) return "";
  const auto domain = properties.find("domain");
  const auto place = static_cast<uint64_t>(location->second);
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}",
                     domain == properties.end() ? 0 : static_cast<uint64_t>(domain->second),
                     place >> 8 & 0xff, place >> 3 & 0x1f, place & 0x7);
}

// In the order of the nodes, which is ROCm's.
std::vector<std::string> AmdGpus(const std::string& root) {
  std::map<int64_t, std::string> found;
  std::error_code failed;
  if (::access((root + "/dev/kfd").c_str(), F_OK) != 0) return {};
  for (const auto& entry :
       std::filesystem::directory_iterator(root + "/sys/class/kfd/kfd/topology/nodes", failed)) {
    const auto number = base::ParseInt(entry.path().filename().string());
    const auto properties = PropertiesIn(entry.path().string() + "/properties");
    // Processors are nodes too, without vector units.
    const auto units = properties.find("simd_count");
    if (!number || units == properties.end() || units->second <= 0) continue;
    const auto minor = properties.find("drm_render_minor");
    const bool is_given = minor == properties.end() || minor->second <= 0 ||
                          ::access(fmt::format("{}/dev/dri/renderD{}", root, minor->second).c_str(),
                                   R_OK | W_OK) == 0;
    if (is_given) found[*number] = AddressOf(properties);
  }
  std::vector<std::string> addresses;
  for (auto& [number, address] : found) addresses.push_back(std::move(address));
  return addresses;
}

// ROCr leaves some, and HIP counts those: by its own variable, else by CUDA's.
int VisibleAmdGpus(int installed, const base::Environment& environment) {
  int left = installed;
  if (const std::string* list = DeviceList(environment, "ROCR_VISIBLE_DEVICES")) {
    left = CountKnown(*list, installed, kAmdNames);
  }
  const std::string* list = DeviceList(environment, "HIP_VISIBLE_DEVICES");
  if (list == nullptr) list = DeviceList(environment, "CUDA_VISIBLE_DEVICES");
  return list != nullptr ? CountKnown(*list, left, kAmdNames) : left;
}

}  // namespace

const GpuVendor kAmd = {"AMD", AmdGpus, VisibleAmdGpus};

}  // namespace launch
