// `muster python-shim`: has `python -m torch.distributed.run` and `.launch`, which are PyTorch's
// own modules, start this launcher. A start-up hook of Python looks at the command line and execs;
// of a program that imports torch.distributed.run, as accelerate does, it replaces the function
// run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"

namespace launch {

// The hook, as a module of Python. `chains`: it is a sitecustomize, and lets the next one run.
std::string HookText(std::string_view launcher, bool chains);

// Of the ranks of a launcher (stacks_place.h).
std::string StacksHookText();

// Whether the hook hands this module of -m to the launcher.
bool IsHandedOver(std::string_view module);

// The command: install or remove [--python PATH] for an interpreter of this machine; `pods DIR`,
// for the node agent, makes DIR/bin/torchrun, DIR/python/sitecustomize.py and the link of
// warm_python.h. Returns the exit code.
int PythonShimMain(const std::vector<std::string>& args, const base::Environment& environment);

}  // namespace launch
