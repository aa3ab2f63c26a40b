// Which answers are worth asking again for, and when. Pure.
#pragma once

#include <chrono>
#include <optional>

#include "net/http/types.h"

namespace cluster {

inline constexpr int kMaxAttempts = 5;
// A server that asks for more is as good as down.
inline constexpr std::chrono::seconds kLongestRetryAfter{30};

// How long to wait before the request is sent again, its `attempt`-th try (from 1) having been
// answered so. nullopt: the answer stands.
std::optional<std::chrono::seconds> RetryAfter(const net::HttpRequest& request, int status,
                                               const net::Headers& headers, int attempt);

}  // namespace cluster
