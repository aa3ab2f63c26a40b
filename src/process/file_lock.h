// Locks between processes (flock), held while any copy of the descriptor is open.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace process {

// Opens `path` (created with mode 0600 when absent) and locks it. Nullopt when another process
// holds the lock.
base::Result<std::optional<base::Fd>> TryLockFile(const std::string& path);

// Waits for the lock, however long it is held: for a child process that may be killed.
base::Result<base::Fd> LockFile(const std::string& path);

}  // namespace process
