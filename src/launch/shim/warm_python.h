// Stands in a pod where `python script.py` would: the program itself is a fork of an interpreter
// that has imported torch, not a child of this process.
//
//   shim ── this, the size of a page or two                 resident ── keeper ── the program
//
// Signals go on to the program's groups, its end is this process's end, and this process gone, the
// keeper ends everything that the program started.
#pragma once

#include <string>
#include <vector>

#include "base/environment.h"

namespace launch {

inline constexpr std::string_view kWarmPythonName = "muster warm-python";

// `args`: python and its words, as a shell would execute them: [-u] script.py ... or [-u] -m module
// ... Executed, with one line that says why, where it cannot be forked. The exit code; ends by
// the signal that ended the program.
int WarmPythonMain(const std::vector<std::string>& args, const base::Environment& environment);

}  // namespace launch
