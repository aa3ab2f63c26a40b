// The variable by which a container is told to stop when its loss is NaN or infinite.
#pragma once

#include <string_view>

namespace api {

// "1": the container is killed when it prints a loss that is NaN or infinite. The launcher's
// --stop-on-nan has the same variable, so it works in every pod whose ranks the launcher starts.
inline constexpr std::string_view kStopOnNanVariable = "PET_STOP_ON_NAN";

}  // namespace api
