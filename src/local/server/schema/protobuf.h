// Decodes bodies in Kubernetes' protobuf encoding, which kubectl sends for built-in kinds.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding
#pragma once

#include <string_view>

#include "base/result.h"
#include "text/json.h"

namespace local::server {

inline constexpr std::string_view kProtobufMedia = "application/vnd.kubernetes.protobuf";

// The object as JSON, with apiVersion and kind. kInvalidArgument when it is malformed, its kind is
// unknown, or it sets a field that we cannot read, so that nothing is dropped silently.
base::Result<text::Json> DecodeProtobuf(std::string_view body);

}  // namespace local::server
