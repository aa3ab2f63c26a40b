// Patches of JSON values.
#pragma once

#include "base/result.h"
#include "text/json.h"

namespace text {

// RFC 7386.
void MergePatch(Json& target, const Json& patch);
// RFC 6902, all or nothing. kInvalidArgument for a malformed patch or a failed `test`.
base::Status JsonPatch(Json& target, const Json& patch);

}  // namespace text
