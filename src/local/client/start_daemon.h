// Becoming a daemon: what a command that starts one and the daemon agree on.
//
//   command: locks daemon.lock --> fork --> setsid, fork --> exec "muster daemon"
//   fd 3: a pipe, on which the daemon says how its start went; fd 4: the lock, handed on
#pragma once

#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace local::daemon {

// Returns when the daemon listens. kCancelled when it ended without a word, as one does that is
// killed; else its words are the error. kTimeout after 20 s. `log` is its file of logs.
base::Status StartDaemon(const std::string& executable, const std::string& log, base::Fd lock);

// What the command handed on, at the daemon's end. Empty where the daemon was started by hand.
class Handover {
 public:
  Handover();

  // The lock: the one handed on, or taken here. kAlreadyExists when somebody else has it.
  base::Result<base::Fd> TakeLock(const std::string& path);
  // The daemon listens.
  void SayReady();
  // Or why it could not start.
  void Say(std::string_view words);

 private:
  base::Fd ready_;
  base::Fd lock_;
};

}  // namespace local::daemon
