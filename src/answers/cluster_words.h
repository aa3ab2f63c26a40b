// What kubectl prints of pods, in files beside logs.
#pragma once

#include <string_view>
#include <vector>

#include "answers/evidence.h"

namespace answers {

// What `kubectl get events`, `describe`, `get pods`, `get -o yaml`, and an error of the API server
// say of why pods failed; only reasons that decide a class. Pure.
std::vector<Event> ReadClusterWords(const std::vector<std::string_view>& lines);

}  // namespace answers
