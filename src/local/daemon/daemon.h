// `muster daemon`: the embedded cluster in one process: store, API server, controller, scheduler
// and node agent, on a Unix socket.
#pragma once

#include <string_view>

#include "base/environment.h"

namespace local::daemon {

// Set by the command that starts a daemon: the readiness pipe is at kReadyFd.
inline constexpr const char* kReadyVariable = "MUSTER_DAEMON_READY";
inline constexpr int kReadyFd = 3;
inline constexpr std::string_view kReadyWord = "ok";

// Runs until SIGTERM or SIGINT; jobs run on without it. The exit code.
int DaemonMain(const base::Environment& environment);

}  // namespace local::daemon
