// How muster-launch begins lines of its report of a failure, by which logs' readers know them.
#pragma once

#include <string_view>

namespace base {

inline constexpr std::string_view kReportHeading = " failed first (local rank ";  // "rank 1 of 2"
inline constexpr std::string_view kReportWhy = "why       : ";  // indented, as all lines below

}  // namespace base
