// Containers' earlier states, in what kubectl prints of a pod.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace answers {

// The lines, in any order, that say how a container ended of which the same text says that it was
// started again and has completed: those below "Last State:" of `kubectl describe` or "lastState:"
// of `-o yaml` and `-o json`, and the events about its restarts. Pure.
std::vector<size_t> LinesOfPastStates(std::span<const std::string_view> lines);

}  // namespace answers
