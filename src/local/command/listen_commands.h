// `muster up --listen` and `muster kubeconfig`: the embedded cluster for kubectl and SDKs.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "cluster/transport.h"
#include "local/command/cluster_commands.h"

namespace local::command {

// Declares --listen; `to` becomes what follows `=`, "127.0.0.1" without it.
void AddListenFlag(cli::FlagSet& flags, std::string* to);
// Has the running daemon listen there ("off": no more); says where.
base::Status Listen(cluster::Transport& daemon, const std::string& address, cli::Output& out);

void AddKubeconfigCommand(cli::Command& root, const ClusterContext& context);

}  // namespace local::command
