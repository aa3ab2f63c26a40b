// What stands in `daemon.lock`: who holds it, and where the socket is. Commands find the daemon by
// it, whatever their own runtime directory says. One line of JSON, written by the holder alone:
//
//   {"pid":123,"started":"<boot id>:<clock ticks>","version":"0.1.0","commit":"...",
//    "date":"...","socket":"/run/user/1000/muster-1a2b3c4d/muster.sock"}
//
// A command that starts a daemon holds the lock first, with "" as the socket, and hands it on. The
// daemon writes its own record before it listens and again when it does, which wakes who waits. The
// record outlives its writer: `started` tells whether that one still runs.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/result.h"
#include "local/client/build_id.h"

namespace local::daemon {

struct DaemonRecord {
  pid_t pid = 0;
  std::string started;  // with the pid, which process it is
  BuildId build;
  std::string socket;  // "" of a command that is starting the daemon
};

// Of this process.
base::Result<DaemonRecord> OwnRecord(const BuildId& build, const std::string& socket);

// In place: the lock stays.
base::Status WriteRecord(int lock, const DaemonRecord& record);

// Of the process that holds, or held, the lock; nullopt when no record stands there, as before the
// first daemon.
base::Result<std::optional<DaemonRecord>> ReadRecord(const std::string& lock_path);

// Whether the process that wrote it runs.
bool IsAlive(const DaemonRecord& record);

// Who holds the lock, by the kernel's list: musters of before wrote no record. Nullopt when nobody
// does, or it cannot be told.
std::optional<pid_t> LockHolder(const std::string& lock_path);

}  // namespace local::daemon
