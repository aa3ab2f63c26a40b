// Backends that run a training as a PyTorchJob: on this machine and on Kubernetes.
#pragma once

#include <memory>
#include <string>

#include "ads/app.h"
#include "ads/run/backend.h"
#include "base/result.h"
#include "text/json.h"

namespace ads {

// Main and workers as processes of this machine, on the embedded cluster: each runs `opctl entry`
// with the environment that the service would set, and meets the others in a folder of the job.
// Prints their logs until the job has ended.
std::unique_ptr<Backend> MakeLocalBackend(const Context& context,
                                          const Context::ClusterFlags& flags);

// The folder of such a job.
std::string LocalFolder(const Context& context, const std::string& name);

// Runs the image as a PyTorchJob of a Kubernetes cluster, whose operator sets the master's address.
// Prints what was created and how to follow it, and does not wait. Fails without a connection.
base::Result<std::unique_ptr<Backend>> MakeKubernetesBackend(const Context& context,
                                                             const Context::ClusterFlags& flags);

}  // namespace ads
