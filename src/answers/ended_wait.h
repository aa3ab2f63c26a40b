// Which of a pod's events tell of a wait that is over.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace answers {

// For each line, whether it is an event in the output of kubectl that later events of the same pod
// overtook: a wait for room, if the pod was assigned to a node, and one for a volume or a sandbox,
// if a container of the pod was started. `kubectl get events` prints them in any order, and names
// the pod; `describe` prints them in the order of time. Pure. Empty if there are none.
std::vector<bool> FindEndedWaits(std::span<const std::string_view> lines);

}  // namespace answers
