// From a command to the embedded cluster: finds the user's daemon, and starts it when there is
// none.
//
// `daemon.lock` decides (daemon_record.h): whoever holds it is the daemon or is starting it. Nobody
// polls: waiting commands are woken when the holder ends and when it writes into the file.
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
#include "local/client/start_daemon.h"
#include "net/http/types.h"

namespace local::daemon {

struct Paths {
  std::string state;    // $XDG_STATE_HOME/muster
  std::string runtime;  // where a daemon of this environment puts its sockets
  std::string socket;   // in `runtime`; a running daemon may have another
  std::string lock;     // held by the daemon while it lives
  std::string down;     // exists from `muster down` until the next daemon starts
  std::string database;
  std::string backup;  // of the database, the latest
  std::string log;     // the daemon's own log
};
Paths PathsOf(const base::Environment& environment);

// Whether this process runs in a pod. `muster` there talks to the daemon that runs the pod and
// never starts one, which would be in the pod's view of the machine.
bool IsInPod(const base::Environment& environment);
// kUnavailable in a pod, where no daemon may be started.
base::Status CheckNotInPod(const base::Environment& environment);

// Creates the state and runtime directories with mode 0700. kPermissionDenied when one belongs to
// somebody else or others may write to it.
base::Status MakePrivateDirs(const Paths& paths);

// The living daemon that answers, whether or not it listens yet. Nullopt when there is none.
base::Result<std::optional<DaemonRecord>> RunningDaemon(const Paths& paths);

// What the daemon has to know about a command.
struct Caller {
  const base::Environment& environment;
  std::string executable;  // starts the daemon
  BuildId build;
  ShellLimits limits = ShellLimits::kShed;  // of a daemon that it starts
};

// The listening daemon, started if necessary: of several commands at the same time, one starts it.
// Waits for a daemon that is ending, and has an older one replaced; running jobs continue. Blocks
// for at most 20 s, or longer while other daemons come and go. If the daemon cannot start, the
// error contains its message.
base::Result<DaemonRecord> EnsureDaemon(const Caller& caller);

// The same for a command whose daemon ended meanwhile. kUnavailable after `muster down`: a command
// that follows a log must not undo it.
base::Result<DaemonRecord> ReviveDaemon(const Caller& caller);

// Asks the daemon to end and waits for it; after `grace` it is killed, which loses nothing. OK when
// there is none.
base::Status StopDaemon(const Paths& paths,
                        std::chrono::milliseconds grace = std::chrono::seconds(20));

// Headers that pass the submitter's interpreter and environment to the embedded server
// (admission.h).
base::Result<net::Headers> SubmitterHeaders(const base::Environment& environment,
                                            const Config& config);

// Absolute path of the running binary.
base::Result<std::string> OwnExecutable();

}  // namespace local::daemon
