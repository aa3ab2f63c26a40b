// Finds out by the labels of either operator which replica of its job a pod is.
#pragma once

#include <string_view>

#include "text/json.h"

namespace api {

// The type label of the older pytorch-operator.
inline constexpr std::string_view kOldReplicaTypeLabel = "pytorch-replica-type";

// Labelled as master by Kubeflow's training-operator or the older pytorch-operator.
bool IsMasterPod(const text::Json& pod);
// The replica's index within its type; 0 when the label is absent or malformed.
int ReplicaIndex(const text::Json& pod);
// compat/pytorchjob.md 2.3: the master has rank 0, and worker i has i + 1, or i in a job without a
// master.
int NodeRank(const text::Json& pod, bool has_master);

}  // namespace api
