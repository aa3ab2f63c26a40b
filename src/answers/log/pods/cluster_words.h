// The output of kubectl about pods, in files beside logs.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answers/evidence.h"
#include "answers/log/pods/described_pod.h"

namespace answers {

// The reasons for pods' failures in the output of `kubectl get events`, `describe`, `get pods`,
// `get -o yaml`, and in an error of the API server; only reasons that decide a class.
// `pods` are those that the lines describe. Pure.
std::vector<Event> ReadClusterWords(const std::vector<std::string_view>& lines,
                                    const std::vector<DescribedPod>& pods);

// The names of the pods that kubectl says were assigned to a node, and the node's: in the events of
// the scheduler, and in the columns of `get pods -o wide`. Pure.
std::vector<std::pair<std::string, std::string>> ReadPlaces(
    const std::vector<std::string_view>& lines);

// The node that an event is about; "" for another event. Pure.
std::string_view NodeOf(const Event& event);

}  // namespace answers
