// Names of signals.
#pragma once

#include <optional>
#include <string_view>

namespace launch {

// "SIGTERM" or "TERM", in any case; nullopt if unknown or if it cannot have a handler.
std::optional<int> SignalNumber(std::string_view name);

}  // namespace launch
