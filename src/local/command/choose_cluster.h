// Which cluster a command talks to, and why: by flag, environment, config.yaml, kubeconfig, the
// cluster of the pod that we run in, otherwise the embedded one, in this order.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/result.h"
#include "local/client/config.h"

namespace local::command {

struct ClusterFlags {
  bool local = false;
  std::string kubeconfig;  // --kubeconfig or --config
  std::string context;
  std::string_view kubeconfig_flag = "--kubeconfig";  // the name by which it was given
};

struct ClusterChoice {
  bool is_embedded = true;
  std::string kubeconfig;  // a path or a list of paths; "" for the embedded cluster and the pod's
                           // own
  bool is_named_file = false;  // one file named by a flag: it must exist
  std::string context;         // "": the current one
  std::string because;         // "flag --local", "MUSTER_CLUSTER=local", ...
};

using FileExists = std::function<bool(const std::string& path)>;

// kInvalidArgument when flags contradict each other.
base::Result<ClusterChoice> ChooseCluster(const ClusterFlags& flags,
                                          const base::Environment& environment,
                                          const daemon::Config& config,
                                          const FileExists& file_exists);

}  // namespace local::command
