// Signals as file descriptors.
#pragma once

#include <sys/signalfd.h>

#include <initializer_list>
#include <optional>

#include "base/fd.h"
#include "base/result.h"

namespace process {

// Blocks `signals` in the calling thread (call it before other threads start) and returns a
// non-blocking descriptor that is readable while one is pending.
base::Result<base::Fd> OpenSignalFd(std::initializer_list<int> signals);

// The next pending signal; nullopt when there is none.
std::optional<signalfd_siginfo> ReadSignal(int fd);

void IgnoreSignal(int signal);

}  // namespace process
