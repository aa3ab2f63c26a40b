// How a command starts a daemon.
//
//   command: locks daemon.lock --> fork --> setsid, fork --> exec "muster daemon"
//   fd 3: a pipe by which the daemon reports how its start went; fd 4: the lock, passed on
#pragma once

#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace local::daemon {

// The niceness of the shell, and its soft limits of memory, CPU time and files' sizes. Jobs inherit
// the daemon's.
enum class ShellLimits { kShed, kKept };

// Returns when the daemon listens. Otherwise the daemon's message is the error, or kCancelled when
// it ended without one, for example because it was killed. kTimeout after 20 s. `log` is the
// daemon's log file.
base::Status StartDaemon(const std::string& executable, const std::string& log, base::Fd lock,
                         ShellLimits limits = ShellLimits::kShed);

// What the command passed on, at the daemon's end. Empty when the daemon was started by hand.
class Handover {
 public:
  Handover();

  // The lock: the one passed on, or one taken here. kAlreadyExists when another process has it.
  base::Result<base::Fd> TakeLock(const std::string& path);
  // Reports that the daemon listens.
  void SayReady();
  // Reports why it could not start.
  void Say(std::string_view words);

 private:
  base::Fd ready_;
  base::Fd lock_;
};

}  // namespace local::daemon
