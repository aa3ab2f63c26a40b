// The kernel's limits on the number of this user's processes.
#pragma once

#include <string>
#include <vector>

#include "local/daemon/process_bound.h"

namespace local::daemon {

// For this process and the machine: ulimit -u, the cgroups above it, the largest process id.
// `root`: the parent of proc/ and sys/ ("" for the machine's own). Values that cannot be read are
// left out.
std::vector<ProcessBound> ReadProcessLimits(const std::string& root = "");

}  // namespace local::daemon
