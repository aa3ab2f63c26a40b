// Decides which answers are worth another attempt, and when. Pure.
#pragma once

#include <chrono>
#include <optional>

#include "net/http/types.h"

namespace cluster {

inline constexpr int kMaxAttempts = 5;
// The longest wait; a server that asks for more counts as down.
inline constexpr std::chrono::seconds kLongestRetryAfter{30};

// How long to wait before the request is sent again after this answer to its `attempt`-th attempt
// (from 1). nullopt: do not send it again.
std::optional<std::chrono::seconds> RetryAfter(const net::HttpRequest& request, int status,
                                               const net::Headers& headers, int attempt);

}  // namespace cluster
