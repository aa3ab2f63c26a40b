// Sends requests to a Kubernetes API server, with credentials that are renewed when they are
// refused, and again if the server asks for it.
#pragma once

#include <functional>
#include <memory>

#include "base/clock.h"
#include "cluster/kubeconfig/credentials.h"
#include "cluster/transport.h"
#include "net/curl/client.h"

namespace cluster {

// `pause` blocks for the given time. `returns_429`: returns a 429 to the caller.
std::unique_ptr<Transport> KubernetesTransport(std::unique_ptr<net::CurlClient> client,
                                               std::unique_ptr<Credentials> credentials,
                                               std::function<void(base::Duration)> pause,
                                               bool returns_429 = false);

}  // namespace cluster
