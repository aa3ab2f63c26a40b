// The commands' way to a Kubernetes cluster, and what `muster cluster` says of it.
#pragma once

#include "local/command/cluster_commands.h"

namespace local::command {

// `choice` is not the embedded cluster's.
base::Result<Connection> ConnectKubernetes(const ClusterContext& context, ClusterChoice choice,
                                           cluster::Client::WarningSink warnings);
// As the kubeconfig has it; "" when it has none, or cannot be read.
std::string NamespaceOfContext(const ClusterContext& context, const ClusterChoice& choice);
// Asks the server too: exit code 1 when it cannot be reached, once the rest is printed.
base::Result<int> ShowKubernetes(const ClusterContext& context, const ClusterChoice& choice,
                                 cli::Output& out);

}  // namespace local::command
