// What a submission needs of the place that it goes to: folders of this machine, claims of its
// cluster. On Kubernetes the server and the kubelets know.
#pragma once

#include <string>

#include "arena/submit/options.h"
#include "base/environment.h"
#include "base/result.h"
#include "cluster/client.h"

namespace arena {

// Whether what --sync-source and --data-dir name on this machine is there, and of use to pods of
// the cluster. Asks no cluster.
base::Status CheckFolders(const SubmitOptions& options, bool cluster_is_this_machine,
                          const base::Environment& environment);

// Whether the embedded cluster has the claims of --data, and their folders are there.
base::Status CheckClaims(cluster::Client& client, const SubmitOptions& options,
                         const std::string& namespace_name);

}  // namespace arena
