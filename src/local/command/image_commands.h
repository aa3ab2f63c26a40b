// `muster image map|list|unmap`: directories that take the place of images on the embedded cluster.
#pragma once

#include "cli/command.h"
#include "local/command/cluster_commands.h"

namespace local::command {

void AddImageCommands(cli::Command& root, const ClusterContext& context);

}  // namespace local::command
