// `local.images: podman`: a container of a pod as a `podman run`, which the shim runs like any
// program. Pure.
//
//   shim ── podman run (its output, its exit code, signals passed on)
//             └─ conmon ── the container's process, in the machine's network
#pragma once

#include <string>
#include <vector>

#include "base/environment.h"
#include "local/node/pod/pod_spec.h"
#include "text/json.h"

namespace local::node {

// The name of podman's container for a container of a pod.
std::string PodmanName(std::string_view pod_uid, std::string_view container);

// Devices by their CDI names: "nvidia.com/gpu=0".
struct CdiDevices {
  std::string_view kind;
  const std::vector<std::string>& names;
};

// Sets argv and env of `spec`, whose env contains the container's own variables (later entries win)
// and whose tty is set. Values stay out of argv, where others could read them. `pod` has the
// mounts, hosts and host name that the container sees; `variables` are the ones that its command
// may refer to; podman itself gets the variables of `daemon` that it needs.
void RunByPodman(const text::Json& container, const PodSpec& pod, const EnvList& variables,
                 const CdiDevices& gpus, const base::Environment& daemon, ContainerSpec& spec);

// The command line of an exec in a container.
std::vector<std::string> PodmanExec(const std::string& podman_name, bool has_terminal,
                                    const std::vector<std::string>& argv);

}  // namespace local::node
