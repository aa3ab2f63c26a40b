// The updates that a tab gets about its job's ranks over time. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "text/json.h"

namespace dashboard {

inline constexpr int64_t kMostStripColumns = 240;

// The change from `told` to the present grid (docs/reference/json.md, "ranks over time"): {"key",
// "from", "step", "at", "ranks"}, where the arrays of each rank begin with column `at`, the first
// that has changed. 0 if the grid is another one, or `told` is none; "" if nothing has changed.
std::string StripNews(const std::string& key, const text::Json& told, const text::Json& now);

}  // namespace dashboard
