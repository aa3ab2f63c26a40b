// Signals by the names that people type.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace launch {

// "SIGTERM" or "TERM", any case; nullopt when unknown or when no handler can be set for it.
std::optional<int> SignalNumber(std::string_view name);

// "SIGTERM"; "" for a number without a name.
std::string SignalName(int signal);

}  // namespace launch
