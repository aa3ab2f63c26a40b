// pods/x/portforward: connections to a pod's ports over a WebSocket.
#pragma once

#include "local/server/backend.h"
#include "local/server/writes.h"

namespace local::server {

// Each of the query's `ports` has a connection of its own, as long as the WebSocket lasts.
void HandlePortForward(Backend& backend, Call call);

}  // namespace local::server
