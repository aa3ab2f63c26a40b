// Replaces `python script.py` in a pod: the program itself is a fork of an interpreter that has
// imported torch, not a child of this process.
//
//   shim ── this, the size of a page or two                 resident ── keeper ── the program
//
// Signals are passed on to the program's groups, its end ends this process, and when this process
// ends, the keeper ends everything that the program started.
#pragma once

#include <string>
#include <vector>

#include "base/environment.h"

namespace launch {

inline constexpr std::string_view kWarmPythonName = "muster warm-python";

// `args`: python and its arguments, as a shell would execute them: [-u] script.py ... or [-u] -m
// module ... If it cannot be forked, executes it, with a message that says why. Returns the exit
// code, or ends by the signal that ended the program.
int WarmPythonMain(const std::vector<std::string>& args, const base::Environment& environment);

}  // namespace launch
