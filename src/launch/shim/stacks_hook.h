// The start-up hook by which Python writes its stacks to a folder of the launcher
// (warm/python/stacks.py).
#pragma once

#include <string>

#include "base/environment.h"
#include "base/result.h"

namespace launch {

// Puts the hook below the folder.
base::Status WriteStacksHook(const std::string& folder);
// The value of PYTHONPATH: the hook before the present path; the hook removes itself from it again.
std::string StacksPythonPath(const std::string& folder, const base::Environment& environment);

}  // namespace launch
