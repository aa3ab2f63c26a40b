#include "api/gpus.h"

#include "api/names.h"
#include "api/pod.h"
#include "gpu/vendor.h"

namespace api {

int64_t SumOfGpuLimits(const text::Json& pod) {
  int64_t sum = 0;
  for (const gpu::Vendor* const vendor : gpu::kVendors) sum += SumOfLimits(pod, vendor->resource);
  return sum;
}

std::string_view GpuResourceOf(const text::Json& node) {
  for (const gpu::Vendor* const vendor : gpu::kVendors) {
    const std::string_view amount =
        text::GetString(node, {"status", "allocatable", vendor->resource});
    if (!amount.empty() && amount != "0") return vendor->resource;
  }
  return kGpuResource;
}

GpuRange GpusOfRank(size_t gpus, size_t local_rank, size_t ranks) {
  if (gpus == 0 || ranks == 0) return {};
  if (gpus < ranks) return {local_rank % gpus, 1};
  const size_t each = gpus / ranks;
  return ranks == 1 ? GpuRange{0, gpus} : GpuRange{local_rank % ranks * each, each};
}

}  // namespace api
