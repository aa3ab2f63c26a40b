// Finds a value whose type is not that of its field in schema.h. Pure.
#pragma once

#include <string>
#include <string_view>

#include "api/schema/schema.h"
#include "text/json.h"

namespace api {

// The first fault of an object of one of Kubernetes' own kinds, in the words of Go's decoder:
// `json: cannot unmarshal number into Go struct field EnvVar.spec.containers.env.value of type
// string`; "" when there is none. Nulls, and fields that the type does not have, are not looked at.
std::string TypeFault(const text::Json& object, const Shape& shape);

}  // namespace api
