// The vendors of GPUs. Each has a file beside this one, which says how its GPUs are counted, shown
// to a program and read, and its lines here.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "gpu/inventory.h"

namespace gpu {

using Variables = std::vector<std::pair<std::string, std::string>>;

struct Vendor {
  std::string_view name;
  std::string_view resource;       // the resource that pods request: "nvidia.com/gpu"
  std::string_view device;         // how the paths of the device files begin that programs open
  std::string_view product_label;  // of a node: the label or resource that names its GPUs
  // The PCI addresses ("0000:41:00.0") of the GPUs that this process may use, in the order of the
  // runtime's own numbers; "" for a GPU whose address is not known. `root`: "" is the machine's
  // own; tests have theirs.
  std::vector<std::string> (*installed)(const std::string& root);
  // How many of them the environment leaves visible.
  int (*visible)(int installed, const base::Environment& environment);
  // The variables that make a program see these units (Unit::visible) and no others.
  Variables (*shown)(const std::vector<std::string>& units);
  // The variables that make a program see none; empty if the program sees none by default.
  Variables (*hidden)(const base::Environment& environment);
};

extern const Vendor kNvidia;
extern const Vendor kAmd;  // ROCm

inline constexpr std::array<const Vendor*, 2> kVendors = {&kNvidia, &kAmd};

// Reads the machine's GPUs of one vendor. Every failure results in an inventory without devices and
// a reason; the reason of a later vendor wins. It may be "" if nothing suggests that the machine
// has such GPUs.
using Reader = Inventory (*)(const Places& places);
Inventory ReadNvidia(const Places& places);
// The function reads them each time that it is called, and keeps the driver's library open in
// between. One thread at a time. A function that was made while the driver did not answer never
// succeeds: call OpenNvidia again.
std::function<Inventory()> OpenNvidia(const Places& places);
Inventory ReadAmd(const Places& places);

inline constexpr std::array<Reader, 2> kReaders = {ReadNvidia, ReadAmd};

// The first vendor that has any; nullptr if none does.
const Vendor* InstalledVendor(const std::string& root = "");

// Whether pods request some vendor's GPUs by this name.
bool IsResource(std::string_view name);

// Whether it is the path of some vendor's device file: a program that has it open may wait for a
// GPU.
bool IsDevice(std::string_view path);

// The GPUs that programs started by this process will see.
int UsableGpus(const base::Environment& environment, const std::string& root = "");

// The value of a variable; "" hides all GPUs; nullptr if it is not set.
const std::string* DeviceList(const base::Environment& environment, const std::string& variable);

// The devices in `list` up to the first unknown one: by number, or by a prefix of one of `names`.
int CountKnown(std::string_view list, int installed, std::span<const std::string_view> names);

}  // namespace gpu
