// The news that a tab gets of its job's ranks over time. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "text/json.h"

namespace dashboard {

inline constexpr int64_t kMostStripColumns = 240;

// The change from `sent`, what the tab has, to `now` (docs/reference/json.md, "ranks over time"):
// {"key", "from", "step", "at", "ranks"}, and "source" if `now` names one. The arrays of each rank
// begin with column `at`: the first that has changed, or 0 when the grid is another one or `sent`
// is null. "" when nothing has changed.
std::string StripNews(const std::string& key, const text::Json& sent, const text::Json& now);

}  // namespace dashboard
