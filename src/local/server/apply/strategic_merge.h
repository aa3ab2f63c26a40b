// Strategic merge patches: like merge patches, except that lists of named elements are merged by
// their keys (k8s.io/apimachinery/pkg/util/strategicpatch).
#pragma once

#include "base/result.h"
#include "text/json.h"

namespace local::server {

// kInvalidArgument when a list's element lacks its merge key; kExhausted when the lists are so long
// that merging them would delay all other writes.
base::Status StrategicMerge(text::Json& target, const text::Json& patch);

}  // namespace local::server
