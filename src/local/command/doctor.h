// `muster doctor`: checks whether this machine, its Python and the chosen cluster are fit for jobs.
#pragma once

#include "cli/command.h"
#include "local/command/cluster_commands.h"

namespace local::command {

void AddDoctor(cli::Command& root, const ClusterContext& context);

}  // namespace local::command
