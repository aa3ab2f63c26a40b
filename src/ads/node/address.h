// Which address of this machine the other nodes reach.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "base/result.h"

namespace ads {

struct InterfaceAddress {
  std::string interface, address;  // IPv4
};

// The machine's, in the kernel's order.
base::Result<std::vector<InterfaceAddress>> ListAddresses();

// The first that lies in `cidr` (10.0.0.0/16); nullopt when none does. Pure.
std::optional<InterfaceAddress> FindInCidr(const std::vector<InterfaceAddress>& addresses,
                                           std::string_view cidr);

// What this machine's name stands for.
base::Result<std::string> AddressOfHostname();

// GPUs that a process started here sees: CUDA_VISIBLE_DEVICES' when it is set, else the machine's.
// `root`: "" is the machine's own files.
int64_t CountGpus(const base::Environment& environment, const std::string& root = "");

}  // namespace ads
