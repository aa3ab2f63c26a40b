// Selects the variables of the caller that a job on this machine inherits.
#pragma once

#include <map>
#include <string>

#include "base/environment.h"
#include "base/result.h"

namespace arena {

// All variables except for those of the terminal and its session, muster's own, the ones that place
// a rank among others (the job sets them itself), and the ones that a pod takes from the caller
// anyway (PATH, HOME, the active virtual environment). kExhausted when they do not fit into a
// Secret.
base::Result<std::map<std::string, std::string>> CallersEnvironment(
    const base::Environment& environment);

}  // namespace arena
