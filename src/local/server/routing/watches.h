// WATCH: a stream of events, one JSON object a line.
#pragma once

#include <chrono>

#include "local/server/routing/backend.h"
#include "local/server/routing/writes.h"

namespace local::server {

// A watcher that lets more than this wait is ended; it resumes from where it was.
inline constexpr size_t kMaxWatchBacklogBytes = 16 << 20;
// Without timeoutSeconds.
inline constexpr std::chrono::seconds kDefaultWatchTimeout{3600};
// From the first event that a watcher was not shown until it is told how far it is.
inline constexpr std::chrono::seconds kBookmarkDelay{30};

// Returns at once; the stream lives with its responder.
void HandleWatch(Backend& backend, Call call);

}  // namespace local::server
