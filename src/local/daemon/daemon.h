// `muster daemon`: the embedded cluster in one process: store, API server, controller, scheduler
// and node agent, serving a Unix socket.
#pragma once

#include "base/environment.h"
#include "local/client/build_id.h"

namespace local::daemon {

// Runs until SIGTERM or SIGINT; jobs continue without it. `build` is this program's. Returns the
// exit code.
int DaemonMain(const base::Environment& environment, const BuildId& build);

}  // namespace local::daemon
