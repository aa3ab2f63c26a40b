// Pods whose node has died. Kubernetes marks them for deletion after five minutes and then waits,
// for ever, for a kubelet that does not answer (kubeflow/trainer#2072); so does v1. A job that says
// how long a node may be gone has such pods counted as failed, and what is deleted of them deleted
// by force: a node that is cut off and lives may still run them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "text/json.h"

namespace reconcile {

// Seconds.
inline constexpr std::string_view kNodeLostAnnotation = "muster.dev/node-lost-seconds";

// How long a node may be gone; nullopt where the job does not say.
std::optional<base::Duration> NodePatience(const text::Json& job);

// When the pod is to count as lost; nullopt when its node is there, or it has ended. `lost_nodes`:
// since when the nodes that are gone have been. Without them the pod itself tells, later.
std::optional<base::Time> LossOf(const text::Json& pod, base::Duration patience,
                                 const std::map<std::string, base::Time>& lost_nodes);

}  // namespace reconcile
