// Which replica of its job a pod is, by the labels of either operator.
#pragma once

#include <string_view>

#include "text/json.h"

namespace api {

// The older pytorch-operator's label of the type.
inline constexpr std::string_view kOldReplicaTypeLabel = "pytorch-replica-type";

// Labelled as master by Kubeflow's training-operator or the older pytorch-operator.
bool IsMasterPod(const text::Json& pod);
// The replica's index within its type; 0 when the label is absent or malformed.
int ReplicaIndex(const text::Json& pod);
// compat/pytorchjob.md 2.3: the master is 0, worker i is i + 1, or i in a job without one.
int NodeRank(const text::Json& pod, bool has_master);

}  // namespace api
