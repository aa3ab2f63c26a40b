// Finds the resident interpreters of this user by their key, or starts them.
//
// Each listens on <runtime directory>/warm/<key>.socket. It ends when it has been idle for `idle`,
// when its lifeline was closed and none of its forks runs, or when `kept` others have become idle
// after it (python/idle.py).
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
  std::string option = "-u";  // option of the interpreter; or ""
  std::string preload;        // modules besides torch, separated by commas
  std::chrono::seconds idle{};
  int64_t kept = 4;                      // the most idle interpreters of this user
  std::vector<std::string> environment;  // of a worker, complete
  std::string runtime_dir;               // base::Environment::RuntimeDir
  int lifeline = -1;                     // read end of a pipe; -1: none
};

// A connection to the interpreter for the wish and this place (key.h). If there is none, starts it:
// it imports while the caller waits for its first message. Blocks for milliseconds.
base::Result<base::Fd> OpenResident(const Wish& wish, const std::string& place);

// Whether the other side of a Unix socket belongs to this process's user.
bool IsOwnUsers(int fd);

// Opens the folder, and creates it when it is missing. It must be private, because anybody who
// could write there could make our ranks run their code. kPermissionDenied when it is not.
base::Result<base::Fd> OpenPrivateFolder(const std::string& path);

}  // namespace warm
