#include "base/clock.h"

namespace {
void Hold(bool holds) {
  if (!holds) __builtin_trap();
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (const auto time = base::ParseRfc3339(input)) {
    // An offset may lead out of the years of four digits.
    const auto year =
        std::chrono::year_month_day(std::chrono::floor<std::chrono::days>(*time)).year();
    if (static_cast<int>(year) >= 0 && static_cast<int>(year) <= 9999) {
      const auto again = base::ParseRfc3339(base::FormatRfc3339Micro(*time));
      Hold(again.has_value() && *again == *time);
    }
  }
  if (const auto duration = base::ParseGoDuration(input)) {
    const auto again = base::ParseGoDuration(std::to_string(duration->count()) + "ns");
    Hold(again.has_value() && *again == *duration);
    base::ShortDuration(std::chrono::duration_cast<base::Duration>(*duration));
  }
  return 0;
}
