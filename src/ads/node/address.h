// The address of this machine that the other nodes can reach.
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

// The machine's addresses, in the kernel's order.
base::Result<std::vector<InterfaceAddress>> ListAddresses();

// The first one in `cidr` (10.0.0.0/16); nullopt when there is none. Pure.
std::optional<InterfaceAddress> FindInCidr(const std::vector<InterfaceAddress>& addresses,
                                           std::string_view cidr);

// The address that this machine's host name resolves to.
base::Result<std::string> AddressOfHostname();

// The number of GPUs that a process started here sees: those of CUDA_VISIBLE_DEVICES if set,
// otherwise the machine's. `root`: "" is the machine's own files.
int64_t CountGpus(const base::Environment& environment, const std::string& root = "");

}  // namespace ads
