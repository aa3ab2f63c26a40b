// Equality of JSON values as Kubernetes means it, for telling whether an object is to be updated.
#pragma once

#include "text/json.h"

namespace reconcile {

// Key order does not matter, and a quantity equals its other spellings: "0.5" is "500m" and 1 is
// "1". An absent field, null and an empty object or list are one.
bool IsSameValue(const text::Json* a, const text::Json* b);

}  // namespace reconcile
