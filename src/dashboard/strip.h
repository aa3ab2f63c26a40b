// What a tab is told of its job's ranks over time. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "text/json.h"

namespace dashboard {

inline constexpr int64_t kMostStripColumns = 240;

// From what was told to what is so now (docs/reference/json.md, "ranks over time"): {"key", "from",
// "step", "at", "ranks"}, where the arrays of each rank begin with column `at`, the first that has
// changed; and its "source", if it names one. 0 where the grid is another one, or `told` is none;
// "" where nothing has changed.
std::string StripNews(const std::string& key, const text::Json& told, const text::Json& now);

}  // namespace dashboard
