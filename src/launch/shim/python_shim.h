// `muster python-shim`: makes `python -m torch.distributed.run` and `.launch`, which are PyTorch's
// own modules, start this launcher. A start-up hook of Python examines the command line and execs;
// in a program that imports torch.distributed.run, like accelerate, it replaces the function run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"

namespace launch {

// The hook as a Python module. `chains`: it is a sitecustomize, and runs the next one.
std::string HookText(std::string_view launcher, bool chains);

// For the ranks of a launcher (stacks_hook.h).
std::string StacksHookText();

// Whether the hook passes this module of -m to the launcher.
bool IsHandedOver(std::string_view module);

// The command: install or remove [--python PATH] for an interpreter of this machine; `pods DIR`,
// for the node agent, creates DIR/bin/torchrun, DIR/python/sitecustomize.py and the link of
// warm_python.h. Returns the exit code.
int PythonShimMain(const std::vector<std::string>& args, const base::Environment& environment);

}  // namespace launch
