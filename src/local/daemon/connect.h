// From a command to the embedded cluster: find the user's daemon, start it when there is none.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

#include "base/environment.h"
#include "base/result.h"
#include "local/daemon/config.h"
#include "net/http.h"

namespace local::daemon {

struct Paths {
  std::string state;    // $XDG_STATE_HOME/muster
  std::string runtime;  // holds the socket and the start lock
  std::string socket;
  std::string start_lock;  // held while a command starts the daemon
  std::string lock;        // held by the daemon as long as it lives
  std::string database;
  std::string log;  // the daemon's own
};
Paths PathsOf(const base::Environment& environment);

// Makes the state and runtime directories, mode 0700. kPermissionDenied when one belongs to
// somebody else or others may write to it.
base::Status MakePrivateDirs(const Paths& paths);

// The pid of the daemon that answers on the socket; nothing when none does.
base::Result<std::optional<pid_t>> RunningDaemon(const Paths& paths);

// Returns when a daemon listens, starting `<executable> daemon` if need be. Commands that come at
// once start one. The daemon's own words are in the error when it could not start.
base::Status EnsureDaemon(const base::Environment& environment, const std::string& executable);

// Asks the daemon to end and waits for it; past `grace` it is killed, at which nothing is lost.
// Success when there is none.
base::Status StopDaemon(const Paths& paths,
                        std::chrono::milliseconds grace = std::chrono::seconds(20));

// Headers that tell the embedded server the submitter's interpreter and environment (admission.h).
base::Result<net::Headers> SubmitterHeaders(const base::Environment& environment,
                                            const Config& config);

// Absolute path of the running binary.
base::Result<std::string> OwnExecutable();

}  // namespace local::daemon
