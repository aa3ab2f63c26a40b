// Invalid fields of an object: unknown to its kind (schema.h), or given twice. In the words of
// kube-apiserver. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/resources.h"
#include "local/server/request/api_error.h"
#include "local/server/request/rest_request.h"
#include "net/http/types.h"
#include "text/json.h"

namespace local::server {

// Removes the fields that the kind does not have from `object`, as Kubernetes does, and returns
// their paths: "spec.containers[0].imag". Removes none from kinds whose types we do not have.
std::vector<std::string> TakeUnknownFields(const api::Resource& resource, text::Json& object);

// The paths of members that a JSON text has more than once; for malformed text, those before the
// error. Names are compared as written, including their escapes.
std::vector<std::string> DuplicateFields(std::string_view json);

// The invalid fields of the object in `http`: `unknown field "spec.x"`. Removes the unknown ones.
// Empty when `mode` is kIgnore.
std::vector<std::string> TakeFieldFaults(FieldValidation mode, const api::Resource& resource,
                                         const net::HttpRequest& http, text::Json& object);

// Refuses an object of one of Kubernetes' own kinds that has a number where a string belongs, and
// the like. Those of other kinds are checked by the schema of their definition.
Check CheckTypes(const api::Resource& resource, const text::Json& object);

// Refusals for kStrict: of an object, and of the result of a patch.
ApiError StrictDecoding(const api::Resource& resource, const std::vector<std::string>& faults);
ApiError StrictPatch(const text::Json& patched, const std::vector<std::string>& faults);

// Why server-side apply cannot accept `applied`: fields that the kind does not have; "" when there
// are none.
std::string UndeclaredFields(const api::Resource& resource, const text::Json& applied);

}  // namespace local::server
