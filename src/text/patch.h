// Patches of JSON values.
#pragma once

#include "base/result.h"
#include "text/json.h"

namespace text {

// RFC 7386.
void MergePatch(Json& target, const Json& patch);
// The merge patch that turns `from` into `to`: empty when they are equal. It cannot express a null
// inside an object of `to`, which becomes an absent key.
Json MakeMergePatch(const Json& from, const Json& to);

// Limits the size of the document that a JSON patch makes, and the bytes that its copy operations
// add in all. A document that is larger already may be patched as long as it does not grow.
inline constexpr size_t kMaxPatchedBytes = 3 << 20;
// RFC 6902, all or nothing, except that `replace` adds an absent member of an object, as it does in
// kube-apiserver. kInvalidArgument for a malformed patch or a failed `test`, and, before
// anything is changed, for a patch that would exceed kMaxPatchedBytes.
base::Status JsonPatch(Json& target, const Json& patch);

}  // namespace text
