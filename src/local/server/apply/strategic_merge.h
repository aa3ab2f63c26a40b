// Strategic merge patches: as merge patches, except that lists of named things are merged by their
// keys (k8s.io/apimachinery/pkg/util/strategicpatch).
#pragma once

#include "base/result.h"
#include "text/json.h"

namespace local::server {

// kInvalidArgument when a list's element lacks the key that it is merged by; kExhausted when lists
// are so long that merging them would hold up everybody else.
base::Status StrategicMerge(text::Json& target, const text::Json& patch);

}  // namespace local::server
