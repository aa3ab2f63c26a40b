// The largest number of processes that a job may have: as many as the machine can run at all. It
// protects against typing errors, and is not a share of the machine. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "text/json.h"

namespace local::daemon {

struct ProcessBound {
  int64_t processes = 0;  // 0: none
  std::string by;         // what sets it: "24 GiB of memory"
};

// The smallest of them counts. `memory` in bytes, 0 when it is not known.
ProcessBound BoundOf(int64_t memory, const std::vector<ProcessBound>& others);

// kInvalidArgument when a job needs more processes (replicas times ranks) than the bound. For a
// changed job, `old` is the stored one: only growth is checked.
base::Status CheckProcesses(const ProcessBound& bound, const text::Json& job,
                            const text::Json* old);

}  // namespace local::daemon
