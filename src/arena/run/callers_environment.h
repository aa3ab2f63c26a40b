// What of the caller's environment a job on this machine inherits.
#pragma once

#include <map>
#include <string>

#include "base/environment.h"
#include "base/result.h"

namespace arena {

// All but what belongs to the terminal and its session, to muster, to the place among other ranks
// that a job is given itself, and what a pod's own environment already takes from the caller (PATH,
// HOME, the active virtual environment). kExhausted when a Secret cannot hold it.
base::Result<std::map<std::string, std::string>> CallersEnvironment(
    const base::Environment& environment);

}  // namespace arena
