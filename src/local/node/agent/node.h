// The Node object of this machine. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "gpu/vendor.h"
#include "text/json.h"

namespace local::node {

struct Machine {
  std::string node_name;  // the host's name, lower case
  int cpus = 1;
  int64_t memory = 0;  // bytes
  int gpus = -1;       // -1 while the discovery has not answered
  const gpu::Vendor* gpu_vendor = &gpu::kNvidia;
  std::string gpu_product;  // "" without GPUs
  std::string kernel_version;
  std::string os_image;
  std::string architecture;  // amd64, arm64
  std::string machine_id;
  std::string boot_id;
};

// What the system says of itself. `node_name` is the host's name, lower case, without a domain;
// "localhost" when it has none that an object could be called.
Machine DescribeMachine();

text::Json MakeNode(const Machine& machine, base::Time now);

}  // namespace local::node
