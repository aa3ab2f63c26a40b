#include <limits>

#include "base/quantity.h"

namespace {
void Hold(bool holds) {
  if (!holds) __builtin_trap();
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto milli = base::ParseQuantityMilli(input);
  const auto whole = base::ParseQuantity(input);
  Hold(milli.has_value() == whole.has_value());
  if (!milli) return 0;
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  if (*milli == kMax || *milli == -kMax) return 0;
  const int64_t rounded = *milli / 1000 + (*milli % 1000 > 0 ? 1 : 0) - (*milli % 1000 < 0 ? 1 : 0);
  Hold(*whole == rounded);
  return 0;
}
