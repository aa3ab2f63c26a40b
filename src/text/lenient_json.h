// JSON as Python and PyTorch write it.
#pragma once

#include <string_view>

#include "text/json.h"

namespace text {

// As ParseJson; but bytes that are not UTF-8, and halves of surrogate pairs, are U+FFFD, as in Go,
// and NaN and infinities are null.
base::Result<Json> ParseJsonLeniently(std::string_view text);

}  // namespace text
