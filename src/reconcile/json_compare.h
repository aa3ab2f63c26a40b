// Equality of JSON values as Kubernetes defines it, used to decide whether an object needs an
// update.
#pragma once

#include "text/json.h"

namespace reconcile {

// Key order does not matter, and different spellings of a quantity are equal: "0.5" and "500m", 1
// and "1". So are an absent field, null, and an empty object or list.
bool IsSameValue(const text::Json* a, const text::Json* b);

}  // namespace reconcile
