// Id of a write to the embedded cluster: a write that arrives twice under one id is carried out
// once.
#pragma once

#include <string_view>

namespace api {

inline constexpr std::string_view kWriteIdHeader = "Muster-Write-Id";

}  // namespace api
