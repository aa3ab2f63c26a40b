// `muster up`, `down`, `cluster`: the embedded cluster as a thing to start, stop and ask about.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/environment.h"
#include "cli/command.h"
#include "cluster/client.h"
#include "local/client/build_id.h"
#include "local/command/choose_cluster.h"

namespace local::command {

// All borrowed; they outlive the command tree.
struct ClusterContext {
  const base::Environment& environment;
  base::Clock& clock;
  std::function<ClusterFlags()> flags;        // as parsed; asked for when a command runs
  std::function<void(base::Duration)> pause;  // blocks, between tries of a request
  daemon::BuildId build;                      // this program's
};

void AddClusterCommands(cli::Command& root, const ClusterContext& context);

// What `muster` alone says: which cluster, whether it runs, what it has, and the command to go on
// with. Starts nothing, and asks nobody but a daemon that runs already.
base::Status ShowState(const ClusterContext& context, cli::Output& out);

// The cluster that commands would talk to; nobody is asked and nothing is started.
struct ChosenCluster {
  bool is_embedded = true;
  std::string namespace_name;  // of the kubeconfig's context; "" is none, or a file not to be read
};
base::Result<ChosenCluster> FindChosenCluster(const ClusterContext& context);

struct Connection {
  ClusterChoice choice;
  std::unique_ptr<cluster::Client> client;
  std::string namespace_name;  // of the kubeconfig's context, "" is none
  std::string server;          // its URL; "" with the embedded cluster
  // Asks Kubernetes who we are; empty with the embedded cluster.
  std::function<base::Result<std::string>()> user_name;
};

// Connects to the cluster that the flags and the environment choose, starting the embedded one by
// need.
base::Result<Connection> Connect(const ClusterContext& context,
                                 cluster::Client::WarningSink warnings);

}  // namespace local::command
