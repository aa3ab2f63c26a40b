// GPUs in objects of the cluster. Each vendor has a resource name of its own (gpu/vendor.h); here
// the GPUs of all vendors are treated alike.
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

// The GPUs of its instance that a rank uses if it follows the usual rule: a single rank uses all of
// them; otherwise each rank uses an equal share, in the order of LOCAL_RANK.
struct GpuRange {
  size_t first = 0, count = 0;
};
GpuRange GpusOfRank(size_t gpus, size_t local_rank, size_t ranks);

}  // namespace api
