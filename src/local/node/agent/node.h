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
  int gpus = -1;       // -1 until discovery has finished
  const gpu::Vendor* gpu_vendor = &gpu::kNvidia;
  std::string gpu_product;  // "" without GPUs
  std::string kernel_version;
  std::string os_image;
  std::string architecture;  // amd64, arm64
  std::string machine_id;
  std::string boot_id;
};

// Describes this system. `node_name` is the host's name, lower case, without its domain;
// "localhost" when the host's name is not valid for an object.
Machine DescribeMachine();

text::Json MakeNode(const Machine& machine, base::Time now);

}  // namespace local::node
