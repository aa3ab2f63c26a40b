// Which cluster a command talks to, and why: flag, then environment, then config.yaml, then
// kubeconfig, then the embedded one.
#pragma once

#include <functional>
#include <string>

#include "base/environment.h"
#include "base/result.h"
#include "local/daemon/config.h"

namespace local::command {

struct ClusterFlags {
  bool local = false;
  std::string kubeconfig;  // --kubeconfig or --config
  std::string context;
};

struct ClusterChoice {
  bool is_embedded = true;
  std::string kubeconfig;  // path list as given; "" for the embedded cluster
  std::string context;
  std::string because;  // "flag --local", "MUSTER_CLUSTER=local", ...
};

using FileExists = std::function<bool(const std::string& path)>;

// kInvalidArgument when flags contradict each other.
base::Result<ClusterChoice> ChooseCluster(const ClusterFlags& flags,
                                          const base::Environment& environment,
                                          const daemon::Config& config,
                                          const FileExists& file_exists);

}  // namespace local::command
