// The image that the operator runs from: workers wait for their master in it when no other is
// named.
#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "cluster/client.h"
#include "text/json.h"

namespace controller {

// Kubeflow's default, where there is no pod to look at.
inline constexpr const char* kImageOutsideOfPods = "alpine:3.10";

// Of the operator's container in its pod, by its name in our manifests or in Kubeflow's, else of
// the first one; "" when there is none.
std::string OwnImage(const text::Json& pod);

// Asks for the pod `pod_name` ("" outside of a cluster) until the API server answers; `rest` waits
// so long and returns false when the operator is to end: then the answer is "".
std::string FindOwnImage(cluster::Client& client, const std::string& namespace_name,
                         const std::string& pod_name,
                         const std::function<bool(base::Duration)>& rest);

}  // namespace controller
