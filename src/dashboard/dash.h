// `muster dash`: serves a page of jobs, runs and the machine to the user's browser on this
// machine.
#pragma once

#include "arena/app/app.h"
#include "cli/command.h"

namespace dashboard {

// `root` and `context` outlive the tree.
void AddDash(cli::Command& root, arena::Context& context);

}  // namespace dashboard
