// Pods whose node has died. Kubernetes marks them for deletion after five minutes and then waits
// for ever for a kubelet that does not answer (kubeflow/trainer#2072); v1 does the same. A job can
// say how long a node may be gone: its pods there then count as failed and are deleted by force. A
// node that is only cut off may still run them.
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

// How long a node may be gone; nullopt when the job does not say.
std::optional<base::Duration> NodePatience(const text::Json& job);

// When the pod will count as lost; nullopt when its node is there, or the pod has ended.
// `lost_nodes` maps each node that is gone to the time since when. For a node that it lacks, the
// pod's own fields show the loss, later.
std::optional<base::Time> LossOf(const text::Json& pod, base::Duration patience,
                                 const std::map<std::string, base::Time>& lost_nodes);

}  // namespace reconcile
