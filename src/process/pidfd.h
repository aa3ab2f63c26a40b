// Processes by descriptor, so that a reused pid is never mistaken for the original process.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>

#include "base/fd.h"
#include "base/result.h"

namespace process {

// kNotFound when there is no such process.
base::Result<base::Fd> OpenPidfd(pid_t pid);

// kNotFound when it has ended. `value` is passed in si_value (like sigqueue).
base::Status SendSignal(int pidfd, int signal, std::optional<int> value = std::nullopt);

// Waits until the process has ended; kTimeout after `timeout`.
base::Status WaitForEnd(int pidfd, std::chrono::milliseconds timeout);

// Waits until `fd` is readable or closed by its writer; kTimeout after `timeout`.
base::Status WaitReadable(int fd, std::chrono::milliseconds timeout);

}  // namespace process
