// The image that the operator itself runs: the default for the container in which workers wait for
// their master.
#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "cluster/client.h"
#include "text/json.h"

namespace controller {

// Kubeflow's default, used outside of a cluster.
inline constexpr const char* kImageOutsideOfPods = "alpine:3.10";

// The image of the operator's container in its pod, found by its name in our manifests or in
// Kubeflow's, otherwise of the first container; "" when there is none.
std::string OwnImage(const text::Json& pod);

// Asks for the pod `pod_name` ("" outside of a cluster) until the API server answers. `rest` waits
// and returns false when the operator has to end: the result is then "".
std::string FindOwnImage(cluster::Client& client, const std::string& namespace_name,
                         const std::string& pod_name,
                         const std::function<bool(base::Duration)>& rest);

}  // namespace controller
