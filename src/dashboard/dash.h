// `muster dash`: the page of jobs, runs and machine, served from this machine to its user's
// browser.
#pragma once

#include "arena/app/app.h"
#include "cli/command.h"

namespace dashboard {

// `root` and `context` outlive the tree.
void AddDash(cli::Command& root, arena::Context& context);

}  // namespace dashboard
