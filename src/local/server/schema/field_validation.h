// Fields that an object should not have: unknown to its kind (schema.h), or given twice. The words
// are kube-apiserver's. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/resources.h"
#include "local/server/routing/api_error.h"
#include "local/server/routing/rest_request.h"
#include "net/http/types.h"
#include "text/json.h"

namespace local::server {

// Takes what the kind does not know out of `object`, as Kubernetes does, and returns the paths:
// "spec.containers[0].imag". Nothing of kinds that we have no types of.
std::vector<std::string> TakeUnknownFields(const api::Resource& resource, text::Json& object);

// The paths of members that a JSON text has more than once; a malformed text gives those before the
// error. Names are compared as they are written, escapes and all.
std::vector<std::string> DuplicateFields(std::string_view json);

// What is wrong with the fields of an object that came in `http`: `unknown field "spec.x"`. Takes
// the unknown ones out. Empty when `mode` is kIgnore.
std::vector<std::string> TakeFieldFaults(FieldValidation mode, const api::Resource& resource,
                                         const net::HttpRequest& http, text::Json& object);

// Refusals of kStrict: of an object, and of what a patch made.
ApiError StrictDecoding(const api::Resource& resource, const std::vector<std::string>& faults);
ApiError StrictPatch(const text::Json& patched, const std::vector<std::string>& faults);

// Why server-side apply cannot take `applied`: fields that the kind has not; "" when all is well.
std::string UndeclaredFields(const api::Resource& resource, const text::Json& applied);

}  // namespace local::server
