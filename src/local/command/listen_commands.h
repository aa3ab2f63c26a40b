// `muster up --listen` and `muster kubeconfig`: access to the embedded cluster for kubectl and
// SDKs.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "cluster/transport.h"
#include "local/command/cluster_commands.h"

namespace local::command {

// Declares --listen; sets `to` to the text after `=`, or to "127.0.0.1" without it.
void AddListenFlag(cli::FlagSet& flags, std::string* to);
// Makes the running daemon listen there ("off": stop listening); prints the address.
base::Status Listen(cluster::Transport& daemon, const std::string& address, cli::Output& out);

void AddKubeconfigCommand(cli::Command& root, const ClusterContext& context);

}  // namespace local::command
