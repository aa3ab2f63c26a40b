// The `completion` command: scripts for shells that ask `<program> __complete`.
#pragma once

#include "cli/command.h"

namespace cli {

void AddCompletionCommand(Command& root);

}  // namespace cli
