// The makers of GPUs. Each is one file beside this one, which says how its GPUs are counted, shown
// to a program and read, and its lines here.
#pragma once

#include <array>
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
  std::string_view resource;       // as pods ask for its GPUs: "nvidia.com/gpu"
  std::string_view product_label;  // of a node: the name of what it has
  // PCI addresses ("0000:41:00.0") in the order of the runtime's own numbers, of the GPUs that this
  // process may use; "" of one whose address is not told. `root`: "" is the machine's own, tests
  // have theirs.
  std::vector<std::string> (*installed)(const std::string& root);
  // How many of so many the environment leaves.
  int (*visible)(int installed, const base::Environment& environment);
  // What a program's environment says so that it sees these units (Unit::visible) and no others.
  Variables (*shown)(const std::vector<std::string>& units);
  // The same of one that is to see none; empty where it says itself which it sees.
  Variables (*hidden)(const base::Environment& environment);
};

extern const Vendor kNvidia;
extern const Vendor kAmd;  // ROCm

inline constexpr std::array<const Vendor*, 2> kVendors = {&kNvidia, &kAmd};

// Reads what the machine has of one maker. Whatever goes wrong is an inventory without devices and
// a reason; the reason of a later maker counts, and may be "" where there is no sign of one.
using Reader = Inventory (*)(const Places& places);
Inventory ReadNvidia(const Places& places);
Inventory ReadAmd(const Places& places);

inline constexpr std::array<Reader, 2> kReaders = {ReadNvidia, ReadAmd};

// The first maker that has any; nullptr of none.
const Vendor* InstalledVendor(const std::string& root = "");

// Whether pods ask for some maker's GPUs by this name.
bool IsResource(std::string_view name);

// GPUs that programs of this process will see.
int UsableGpus(const base::Environment& environment, const std::string& root = "");

// What a variable says, "" with it, which hides all; nullptr of one that is not set.
const std::string* DeviceList(const base::Environment& environment, const std::string& variable);

// Devices of `list` up to the first one that is not known: by number, or by a name that begins as
// one of `names`.
int CountKnown(std::string_view list, int installed, std::span<const std::string_view> names);

}  // namespace gpu
