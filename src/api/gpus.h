// GPUs in objects of the cluster. Each maker's have a name of their own (gpu/vendor.h); here they
// are one thing.
#pragma once

#include <cstdint>
#include <string_view>

#include "text/json.h"

namespace api {

// What the limits of the pod's containers ask for.
int64_t SumOfGpuLimits(const text::Json& pod);

// What a node calls its GPUs; kGpuResource of one that has none.
std::string_view GpuResourceOf(const text::Json& node);

}  // namespace api
