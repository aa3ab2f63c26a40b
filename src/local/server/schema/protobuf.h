// Bodies in Kubernetes' protobuf encoding, which kubectl sends for the kinds that are built in.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding
#pragma once

#include <string_view>

#include "base/result.h"
#include "text/json.h"

namespace local::server {

inline constexpr std::string_view kProtobufMedia = "application/vnd.kubernetes.protobuf";

// The object as JSON, with apiVersion and kind. kInvalidArgument when it is malformed, of a kind
// that we do not know, or sets a field that we cannot read: nothing that was sent is dropped.
base::Result<text::Json> DecodeProtobuf(std::string_view body);

}  // namespace local::server
