// Requests to a Kubernetes API server: with credentials, renewed when they are refused, and sent
// again where the server asks for it.
#pragma once

#include <functional>
#include <memory>

#include "base/clock.h"
#include "cluster/kubeconfig/credentials.h"
#include "cluster/transport.h"
#include "net/curl/client.h"

namespace cluster {

// `pause` blocks for that long. `gives_429_on`: that answer is the caller's to deal with.
std::unique_ptr<Transport> KubernetesTransport(std::unique_ptr<net::CurlClient> client,
                                               std::unique_ptr<Credentials> credentials,
                                               std::function<void(base::Duration)> pause,
                                               bool gives_429_on = false);

}  // namespace cluster
