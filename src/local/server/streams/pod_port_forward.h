// pods/x/portforward: connections to a pod's ports over a WebSocket.
#pragma once

#include "local/server/backend/backend.h"
#include "local/server/writes/writes.h"

namespace local::server {

// Each of the query's `ports` gets a connection of its own, which lasts as long as the WebSocket.
void HandlePortForward(Backend& backend, Call call);

}  // namespace local::server
