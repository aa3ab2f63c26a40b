// Names of signals.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace launch {

// "SIGTERM" or "TERM", in any case; nullopt if unknown or if it cannot have a handler.
std::optional<int> SignalNumber(std::string_view name);

// "SIGTERM"; "" if the number has no name.
std::string SignalName(int signal);

}  // namespace launch
