// JSON as Python and PyTorch write it.
#pragma once

#include <string_view>

#include "text/json.h"

namespace text {

// Like ParseJson, but reads bytes that are not UTF-8 and lone surrogates as U+FFFD, as Go does, and
// NaN and infinities as null.
base::Result<Json> ParseJsonLeniently(std::string_view text);

}  // namespace text
