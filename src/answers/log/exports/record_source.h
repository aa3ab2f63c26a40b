// Where a record comes from, as log collectors write it.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "text/json.h"

namespace answers {

// The first of these members that is a text and not empty; "" without one.
std::string_view FirstString(const text::Json& record, std::initializer_list<text::Path> keys);

// Of "POD_NAMESPACE_CONTAINER-ID.log" below /var/log/containers, also with dots for the slashes,
// and of "NAMESPACE_POD_UID" below /var/log/pods; "" of another path. Pure.
std::string_view PodOfPath(std::string_view path);

// "[pod/NAME/CONTAINER] " or, with the pod's number in its Job, "[pod/NAME/CONTAINER/index=2] ": of
// the labels of Kubernetes (fluent-bit, Filebeat, Vector, Cloud Logging, Loki, Datadog's tags, Log
// Analytics), of the path of a container's log in a tag or a label, else the replica of Vertex AI
// or the stream of CloudWatch; else of such a path in `tag`, what stands before the record in its
// line (fluentd). "" if there is none of these.
std::string PodPrefixOf(const text::Json& record, std::string_view tag = "");

}  // namespace answers
