// `watch`: shows the jobs, or one of them, on the whole terminal.
#pragma once

#include "arena/app/app.h"
#include "cli/command.h"

namespace watch {

// Both outlive the tree. `self`: the path of this program, which runs logs, shell and stacks.
void AddWatch(cli::Command& root, arena::Context& context, const std::string& self);

}  // namespace watch
