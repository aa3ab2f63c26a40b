// The output of kubectl about pods, in files beside logs.
#pragma once

#include <string_view>
#include <vector>

#include "answers/evidence.h"

namespace answers {

// The reasons for pods' failures in the output of `kubectl get events`, `describe`, `get pods`,
// `get -o yaml`, and in an error of the API server; only reasons that decide a class. Pure.
std::vector<Event> ReadClusterWords(const std::vector<std::string_view>& lines);

}  // namespace answers
