// Kubernetes resource quantities: "500m", "2Gi", "1e3", "0.5".
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace base {

// In thousandths, rounded up, saturating at int64: "1" -> 1000, "500m" -> 500, "1Ki" -> 1'024'000,
// "100n" -> 1. Accepts what k8s.io/apimachinery's resource.ParseQuantity accepts; otherwise
// kInvalidArgument.
Result<int64_t> ParseQuantityMilli(std::string_view text);

// In whole units, rounded up: "2Gi" -> 2'147'483'648, "500m" -> 1.
Result<int64_t> ParseQuantity(std::string_view text);

}  // namespace base
