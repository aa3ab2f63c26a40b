// The backends that run a training as a PyTorchJob: on this machine and on Kubernetes.
#pragma once

#include <memory>
#include <string>

#include "ads/app.h"
#include "ads/run/backend.h"
#include "text/json.h"

namespace ads {

// Main and workers as processes of this machine, on the embedded cluster: each runs `opctl entry`
// with the environment that the service would give it, and meets the others through a folder of
// the job. Prints their logs until the job has ended.
std::unique_ptr<Backend> MakeLocalBackend(const Context& context,
                                          const Context::ClusterFlags& flags);

// The folder of a job of it.
std::string LocalFolder(const Context& context, const std::string& name);

// The image in a PyTorchJob of a Kubernetes cluster, whose operator says who the master is. Prints
// what was made, and how to follow it, and does not wait.
std::unique_ptr<Backend> MakeKubernetesBackend(const Context& context,
                                               const Context::ClusterFlags& flags);

}  // namespace ads
