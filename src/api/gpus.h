// GPUs in objects of the cluster. Each vendor's have a resource name of their own (gpu/vendor.h);
// here they are one thing.
#pragma once

#include <cstdint>
#include <string_view>

#include "text/json.h"

namespace api {

// The sum that the limits of the pod's containers ask for.
int64_t SumOfGpuLimits(const text::Json& pod);

// The name under which a node offers its GPUs; kGpuResource if it has none.
std::string_view GpuResourceOf(const text::Json& node);

}  // namespace api
