// pods/{name}/exec and pods/{name}/attach.
#pragma once

#include "local/server/backend/backend.h"
#include "local/server/writes/writes.h"

namespace local::server {

// GET or POST: a command in a container, over a WebSocket (cluster/exec/exec.h has the protocol).
void HandleExec(Backend& backend, Call call);
// Refuses, and tells the user what to do instead.
void HandleAttach(Backend& backend, Call call);

}  // namespace local::server
