// The kernel's limits of how many processes this user may have.
#pragma once

#include <string>
#include <vector>

#include "local/daemon/process_bound.h"

namespace local::daemon {

// Of this process and the machine: ulimit -u, the cgroups above it, the largest process id. `root`:
// where proc/ and sys/ are ("" for the machine's own). What cannot be read is left out.
std::vector<ProcessBound> ReadProcessLimits(const std::string& root = "");

}  // namespace local::daemon
