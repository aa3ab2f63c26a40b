// The GPUs of one maker, as programs that use them will see them. A maker is one file and a line in
// GpuVendors().
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"

namespace launch {

struct GpuVendor {
  std::string_view name;
  // PCI addresses ("0000:41:00.0") in the order of the runtime's own numbers, of the GPUs that this
  // process may use; "" of one whose address is not told. `root`: "" is the machine's own, tests
  // have theirs.
  std::vector<std::string> (*installed)(const std::string& root);
  // How many of so many the environment leaves.
  int (*visible)(int installed, const base::Environment& environment);
};

extern const GpuVendor kNvidia;
extern const GpuVendor kAmd;  // ROCm

std::span<const GpuVendor* const> GpuVendors();

// The first maker that has any; nullptr of none.
const GpuVendor* InstalledVendor(const std::string& root = "");

// GPUs that workers will see.
int UsableGpus(const base::Environment& environment, const std::string& root = "");

// What a variable says, "" with it, which hides all; nullptr of one that is not set.
const std::string* DeviceList(const base::Environment& environment, const std::string& variable);

// Devices of `list` up to the first one that is not known: by number, or by a name that begins as
// one of `names`.
int CountKnown(std::string_view list, int installed, std::span<const std::string_view> names);

}  // namespace launch
