// `muster up`, `down` and `cluster`: start, stop and show the embedded cluster.
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
  std::function<ClusterFlags()> flags;        // as parsed; called when a command runs
  std::function<void(base::Duration)> pause;  // blocks; used between attempts of a request
  daemon::BuildId build;                      // of this program
};

// `context` outlives the tree.
void AddClusterCommands(cli::Command& root, const ClusterContext& context);

// What `muster` shows without arguments: the chosen cluster, whether it runs, what it contains, and
// the next command. Starts nothing, and asks only a daemon that runs already.
base::Status ShowState(const ClusterContext& context, cli::Output& out);

// The cluster that commands would talk to; determined without asking or starting anything.
struct ChosenCluster {
  bool is_embedded = true;
  std::string namespace_name;  // of the kubeconfig's context; "": none, or the file cannot be read
};
base::Result<ChosenCluster> FindChosenCluster(const ClusterContext& context);

struct Connection {
  ClusterChoice choice;
  std::unique_ptr<cluster::Client> client;
  std::string namespace_name;  // of the kubeconfig's context; "": none
  std::string server;          // its URL; "" for the embedded cluster
  // Asks Kubernetes for our user name; empty for the embedded cluster.
  std::function<base::Result<std::string>()> user_name;
};

// Connects to the cluster that the flags and the environment choose, and starts the embedded one if
// necessary.
base::Result<Connection> Connect(const ClusterContext& context,
                                 cluster::Client::WarningSink warnings);

}  // namespace local::command
