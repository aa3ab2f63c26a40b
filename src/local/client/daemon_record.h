// The contents of `daemon.lock`: who holds it, and where the socket is. Commands find the daemon by
// it, whatever their own runtime directory is. One line of JSON, written only by the holder:
//
//   {"pid":123,"started":"<boot id>:<clock ticks>","version":"0.1.0","commit":"...",
//    "date":"...","socket":"/run/user/1000/muster-1a2b3c4d/muster.sock"}
//
// A command that starts a daemon first holds the lock itself, with "" as the socket, and passes it
// on. The daemon writes its own record before it listens and again when it listens, which wakes
// waiting commands. The record outlives its writer: `started` shows whether the writer still runs.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/result.h"
#include "local/client/build_id.h"

namespace local::daemon {

struct DaemonRecord {
  pid_t pid = 0;
  std::string started;  // identifies the process together with the pid
  BuildId build;
  std::string socket;  // "" for a command that is starting the daemon
};

// The record of this process.
base::Result<DaemonRecord> OwnRecord(const BuildId& build, const std::string& socket);

// Writes in place: the lock is kept.
base::Status WriteRecord(int lock, const DaemonRecord& record);

// The record of the process that holds, or held, the lock; nullopt when the file has none, as
// before the first daemon.
base::Result<std::optional<DaemonRecord>> ReadRecord(const std::string& lock_path);

// Whether the process that wrote it still runs.
bool IsAlive(const DaemonRecord& record);

// The holder of the lock by the kernel's list, for older musters, which wrote no record. Nullopt
// when nobody holds it, or that cannot be found out.
std::optional<pid_t> LockHolder(const std::string& lock_path);

}  // namespace local::daemon
