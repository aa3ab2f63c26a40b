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

}  // namespace api
