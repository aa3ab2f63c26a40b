// From a command to the embedded cluster: find the user's daemon, start it when there is none.
//
// `daemon.lock` is the truth (daemon_record.h): who holds it is the daemon, or starts one. Nobody
// polls: who waits is woken by the holder's end and by what it writes there.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

#include "base/environment.h"
#include "base/fd.h"
#include "base/result.h"
#include "local/client/build_id.h"
#include "local/client/config.h"
#include "local/client/daemon_record.h"
#include "net/http/types.h"

namespace local::daemon {

struct Paths {
  std::string state;    // $XDG_STATE_HOME/muster
  std::string runtime;  // where a daemon of this environment has its sockets
  std::string socket;   // there; the one that runs may have another
  std::string lock;     // held by the daemon as long as it lives
  std::string down;     // is there after `muster down`, until the next daemon starts
  std::string database;
  std::string backup;  // of the database, the last
  std::string log;     // the daemon's own
};
Paths PathsOf(const base::Environment& environment);

// Whether this process is one of a pod's. `muster` there talks to the daemon that runs the pod, and
// starts none: it would be one in the pod's view of the machine.
bool IsInPod(const base::Environment& environment);
// kUnavailable in a pod: a daemon would have to be started.
base::Status CheckNotInPod(const base::Environment& environment);

// Makes the state and runtime directories, mode 0700. kPermissionDenied when one belongs to
// somebody else or others may write to it.
base::Status MakePrivateDirs(const Paths& paths);

// The daemon that lives, whether or not it listens yet, and answers. Nullopt when there is none.
base::Result<std::optional<DaemonRecord>> RunningDaemon(const Paths& paths);

// A command, as far as the daemon is concerned.
struct Caller {
  const base::Environment& environment;
  std::string executable;  // to start the daemon with
  BuildId build;
};

// The daemon that listens, started if need be: of commands that come at once, one starts it. Waits
// for one that is ending, and has an older one replaced; what runs runs on. Blocks for 20 s at the
// most, longer only while others come and go. The daemon's own words are in the error when it could
// not start.
base::Result<DaemonRecord> EnsureDaemon(const Caller& caller);

// The same for a command under which the daemon went away. kUnavailable where that was `muster
// down`: who follows a log does not undo it.
base::Result<DaemonRecord> ReviveDaemon(const Caller& caller);

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
