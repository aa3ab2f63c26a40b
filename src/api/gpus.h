// GPUs in objects of the cluster. Each vendor's have a resource name of their own (gpu/vendor.h);
// here they are one thing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "text/json.h"

namespace api {

// The sum that the limits of the pod's containers ask for.
int64_t SumOfGpuLimits(const text::Json& pod);

// The name under which a node offers its GPUs; kGpuResource if it has none.
std::string_view GpuResourceOf(const text::Json& node);

// Which of its instance's GPUs a rank uses, if it does as is usual: a single rank has all of them,
// others the one that LOCAL_RANK numbers, or as many from there as each can have.
struct GpuRange {
  size_t first = 0, count = 0;
};
GpuRange GpusOfRank(size_t gpus, size_t local_rank, size_t ranks);

}  // namespace api
