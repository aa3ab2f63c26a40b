// Patches of JSON values.
#pragma once

#include "base/result.h"
#include "text/json.h"

namespace text {

// RFC 7386.
void MergePatch(Json& target, const Json& patch);
// The merge patch that makes `to` of `from`: empty when they are equal. A null inside an object of
// `to` cannot be said; it comes out as absence.
Json MakeMergePatch(const Json& from, const Json& to);

// What a JSON patch may make of a document, and what all of its copies may come to. A document that
// is larger already may be patched as long as it does not grow.
inline constexpr size_t kMaxPatchedBytes = 3 << 20;
// RFC 6902, all or nothing. kInvalidArgument for a malformed patch or a failed `test`, and for one
// that makes more than kMaxPatchedBytes, before they are made.
base::Status JsonPatch(Json& target, const Json& patch);

}  // namespace text
