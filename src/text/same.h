// Whether JSON values are equal.
#pragma once

#include "text/json.h"

namespace text {

// Whatever the order of their keys. As ==, which in Boost 1.81 copies every member of an object.
bool IsSame(const Json& a, const Json& b);

}  // namespace text
