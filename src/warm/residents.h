// Resident interpreters of this user: found by their key, or started.
//
// One listens on <runtime directory>/warm/<key>.socket and leaves when nobody has wanted anything
// for `idle`, when its lifeline has been cut and nothing of it runs, or when `kept` others have
// become idle after it (python/idle.py).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace warm {

struct Wish {
  std::string python;         // what a worker would be executed with
  std::string option = "-u";  // of the interpreter; or ""
  std::string preload;        // modules beside torch, with commas
  std::chrono::seconds idle{};
  int64_t kept = 4;                      // of this user's idle interpreters, at most
  std::vector<std::string> environment;  // of a worker, complete
  std::string runtime_dir;               // base::Environment::RuntimeDir
  int lifeline = -1;                     // read end of a pipe; -1: it has none
};

// A connection to the interpreter that fits the wish and this place (key.h). Started when
// there is none: it imports while the caller waits for its first word. Blocks for milliseconds.
base::Result<base::Fd> OpenResident(const Wish& wish, const std::string& place);

// Whether the other side of a Unix socket belongs to this process's user.
bool IsOwnUsers(int fd);

// Made when missing; private, since anybody who could write there could have our ranks run
// their code. kPermissionDenied when it is not.
base::Result<base::Fd> OpenPrivateFolder(const std::string& path);

}  // namespace warm
