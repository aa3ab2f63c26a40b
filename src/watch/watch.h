// `watch`: jobs, or one of them, on a whole terminal.
#pragma once

#include "arena/app/app.h"
#include "cli/command.h"

namespace watch {

// Both outlive the tree. `self`: the path of this program, which shows logs, shells and stacks.
void AddWatch(cli::Command& root, arena::Context& context, const std::string& self);

}  // namespace watch
