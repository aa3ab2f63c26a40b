// Connects commands to a Kubernetes cluster, and shows it for `muster cluster`.
#pragma once

#include "local/command/cluster_commands.h"

namespace local::command {

// `choice` must not be the embedded cluster.
base::Result<Connection> ConnectKubernetes(const ClusterContext& context, ClusterChoice choice,
                                           cluster::Client::WarningSink warnings);
// The namespace in the kubeconfig; "" when it has none, or cannot be read.
std::string NamespaceOfContext(const ClusterContext& context, const ClusterChoice& choice);
// Also asks the server: prints everything else and returns exit code 1 when it cannot be reached.
base::Result<int> ShowKubernetes(const ClusterContext& context, const ClusterChoice& choice,
                                 cli::Output& out);

}  // namespace local::command
