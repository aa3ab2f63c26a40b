// AMD's GPUs, from the topology that its kernel driver (amdkfd) shows in /sys, which is what ROCm
// counts, and from what amdgpu shows of each.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <map>

#include "base/file.h"
#include "base/strings.h"
#include "gpu/vendor.h"

namespace gpu {
namespace {

constexpr size_t kMaxFile = 64 << 10;
constexpr std::array<std::string_view, 1> kAmdNames = {"GPU-"};

using Properties = std::map<std::string, uint64_t>;

// Reads lines like "simd_count 304". Empty if the file cannot be read, as in a container that does
// not get the device.
Properties PropertiesIn(const std::string& path) {
  Properties properties;
  const auto text = base::ReadFile(path, kMaxFile);
  if (!text) return properties;
  for (const std::string& line : base::Split(*text, '\n')) {
    const size_t gap = line.find(' ');
    if (gap == std::string::npos) continue;
    const std::string_view written = base::Trim(std::string_view(line).substr(gap));
    uint64_t value = 0;
    const char* const end = written.data() + written.size();
    const auto [stop, error] = std::from_chars(written.data(), end, value);
    if (error == std::errc() && stop == end) properties[line.substr(0, gap)] = value;
  }
  return properties;
}

uint64_t Get(const Properties& properties, const std::string& name) {
  const auto found = properties.find(name);
  return found == properties.end() ? 0 : found->second;
}

std::string AddressOf(const Properties& properties) {
  if (!properties.contains("location_id")) return "";
  const uint64_t place = Get(properties, "location_id");
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", Get(properties, "domain"), place >> 8 & 0xff,
                     place >> 3 & 0x1f, place & 0x7);
}

// The GPUs that this process may use, in the order of the nodes, which is ROCm's.
std::vector<Properties> NodesIn(const std::string& root) {
  std::map<int64_t, Properties> found;
  std::error_code failed;
  if (::access((root + "/dev/kfd").c_str(), F_OK) != 0) return {};
  for (const auto& entry :
       std::filesystem::directory_iterator(root + "/sys/class/kfd/kfd/topology/nodes", failed)) {
    const auto number = base::ParseInt(entry.path().filename().string());
    Properties properties = PropertiesIn(entry.path().string() + "/properties");
    // Processors are nodes too, but have no vector units.
    if (!number || Get(properties, "simd_count") == 0) continue;
    const uint64_t minor = Get(properties, "drm_render_minor");
    const bool is_given =
        minor == 0 ||
        ::access(fmt::format("{}/dev/dri/renderD{}", root, minor).c_str(), R_OK | W_OK) == 0;
    if (is_given) found[*number] = std::move(properties);
  }
  std::vector<Properties> nodes;
  for (auto& [number, properties] : found) nodes.push_back(std::move(properties));
  return nodes;
}

std::vector<std::string> AmdGpus(const std::string& root) {
  std::vector<std::string> addresses;
  for (const Properties& node : NodesIn(root)) addresses.push_back(AddressOf(node));
  return addresses;
}

// ROCr filters them first; then HIP filters the rest: by its own variable, else by CUDA's.
int VisibleAmdGpus(int installed, const base::Environment& environment) {
  int left = installed;
  if (const std::string* list = DeviceList(environment, "ROCR_VISIBLE_DEVICES")) {
    left = CountKnown(*list, installed, kAmdNames);
  }
  const std::string* list = DeviceList(environment, "HIP_VISIBLE_DEVICES");
  if (list == nullptr) list = DeviceList(environment, "CUDA_VISIBLE_DEVICES");
  return list != nullptr ? CountKnown(*list, left, kAmdNames) : left;
}

// HIP counts the rest from 0 again, so both variables have to be set.
Variables ShowAmdGpus(const std::vector<std::string>& units) {
  std::vector<std::string> places;
  for (size_t i = 0; i < units.size(); ++i) places.push_back(std::to_string(i));
  return {{"ROCR_VISIBLE_DEVICES", base::Join(units, ",")},
          {"HIP_VISIBLE_DEVICES", base::Join(places, ",")}};
}

Variables HideAmdGpus(const base::Environment& environment) {
  for (const char* name : {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"}) {
    if (DeviceList(environment, name) != nullptr) return {};
  }
  return {{"ROCR_VISIBLE_DEVICES", ""}, {"HIP_VISIBLE_DEVICES", "-1"}};
}

// 90402 is gfx942, 90010 is gfx90a.
std::string Architecture(const Properties& node) {
  const uint64_t version = Get(node, "gfx_target_version");
  return fmt::format("gfx{}{:x}{:x}", version / 10000, version / 100 % 100, version % 100);
}

std::string LineOf(const std::string& path) {
  const auto text = base::ReadFile(path, kMaxFile);
  return text ? std::string(base::Trim(*text)) : "";
}

Device ReadAmdDevice(const std::string& root, const Properties& node, int index) {
  const std::string folder =
      fmt::format("{}/sys/class/drm/renderD{}/device", root, Get(node, "drm_render_minor"));
  Device device;
  device.index = index;
  // Cards of some series have no serial number: their slot identifies them.
  const uint64_t id = Get(node, "unique_id");
  device.uuid =
      id != 0 ? fmt::format("GPU-{:016x}", id)
              : fmt::format("GPU-{:04x}-{:04x}", Get(node, "domain"), Get(node, "location_id"));
  const std::string product = LineOf(folder + "/product_name");
  device.name = product.empty() ? "AMD " + Architecture(node) : product;
  device.memory_total = base::ParseInt(LineOf(folder + "/mem_info_vram_total")).value_or(0);
  device.memory_used = base::ParseInt(LineOf(folder + "/mem_info_vram_used")).value_or(0);
  if (const auto busy = base::ParseInt(LineOf(folder + "/gpu_busy_percent"))) {
    device.utilisation_percent = static_cast<int>(*busy);
  }
  return device;
}

}  // namespace

const Vendor kAmd = {.name = "AMD",
                     .resource = "amd.com/gpu",
                     .device = "/dev/kfd",
                     .product_label = "amd.com/gpu.product-name",
                     .installed = AmdGpus,
                     .visible = VisibleAmdGpus,
                     .shown = ShowAmdGpus,
                     .hidden = HideAmdGpus};

Inventory ReadAmd(const Places& places) {
  Inventory inventory;
  inventory.vendor = &kAmd;
  for (const Properties& node : NodesIn(places.root)) {
    const int index = static_cast<int>(inventory.devices.size());
    inventory.devices.push_back(ReadAmdDevice(places.root, node, index));
  }
  inventory.driver_version = LineOf(places.root + "/sys/module/amdgpu/version");
  const bool has_driver = ::access((places.root + "/dev/kfd").c_str(), F_OK) == 0;
  if (has_driver && inventory.devices.empty()) {
    inventory.reason = "the AMD driver shows no GPU that this user may open";
  }
  return inventory;
}

}  // namespace gpu
