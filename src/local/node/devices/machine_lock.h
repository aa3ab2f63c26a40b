// Locks that all users of the machine see and that no crash leaves behind: a bound abstract Unix
// socket. It is held as long as any process has the descriptor open, so it can be passed on. Its
// reach is the network namespace.
#pragma once

#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace local::node {

// The lock; kUnavailable when somebody holds it. Does not block.
base::Result<base::Fd> LockMachineWide(std::string_view name);

}  // namespace local::node
