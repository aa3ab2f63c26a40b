// Which cluster a command talks to, and why: flag, then environment, then config.yaml, then
// kubeconfig, then the cluster whose pod we run in, then the embedded one.
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
  std::string_view kubeconfig_flag = "--kubeconfig";  // by which of its names it was given
};

struct ClusterChoice {
  bool is_embedded = true;
  std::string kubeconfig;  // path, or list of them; "" for the embedded and the pod's own cluster
  bool is_named_file = false;  // one file, by a flag: it must exist
  std::string context;         // "" is the current one
  std::string because;         // "flag --local", "MUSTER_CLUSTER=local", ...
};

using FileExists = std::function<bool(const std::string& path)>;

// kInvalidArgument when flags contradict each other.
base::Result<ClusterChoice> ChooseCluster(const ClusterFlags& flags,
                                          const base::Environment& environment,
                                          const daemon::Config& config,
                                          const FileExists& file_exists);

}  // namespace local::command
