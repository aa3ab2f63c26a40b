// pods/x/portforward: connections to a pod's ports over a WebSocket.
#pragma once

#include "local/server/routing/backend.h"
#include "local/server/routing/writes.h"

namespace local::server {

// Each of the query's `ports` has a connection of its own, as long as the WebSocket lasts.
void HandlePortForward(Backend& backend, Call call);

}  // namespace local::server
