// Checks what a submission needs: folders on this machine, claims of the embedded cluster. On
// Kubernetes the server and the kubelets check.
#pragma once

#include <string>

#include "arena/submit/job/options.h"
#include "base/environment.h"
#include "base/result.h"
#include "cluster/client.h"

namespace arena {

// Checks that the paths of --sync-source and --data-dir exist on this machine and that the
// cluster's pods can use them. Sends no request.
base::Status CheckFolders(const SubmitOptions& options, bool cluster_is_this_machine,
                          const base::Environment& environment);

// Checks that the embedded cluster has the claims of --data, and that their folders exist.
base::Status CheckClaims(cluster::Client& client, const SubmitOptions& options,
                         const std::string& namespace_name);

// Where the event files of a --logdir are, if it is on a claim of --data or in a --data-dir, the
// deepest of them (api::kLogdirAnnotation); "" if it is on neither, or the claim is not there.
std::string SharedLogdir(cluster::Client* client, const SubmitOptions& options,
                         const std::string& namespace_name, bool cluster_is_this_machine);

}  // namespace arena
