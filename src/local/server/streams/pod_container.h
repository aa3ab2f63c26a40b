// What the subresources of a pod share: finding the pod and the container.
#pragma once

#include <string>
#include <string_view>

#include "local/server/backend/backend.h"
#include "local/server/request/rest_request.h"
#include "text/json.h"

namespace local::server {

Answer<text::Json> ReadPod(Backend& backend, const RestRequest& rest);

// The requested container, the only one, or the one that trains.
Answer<std::string> ResolveContainer(const text::Json& pod, std::string_view wanted);

}  // namespace local::server
