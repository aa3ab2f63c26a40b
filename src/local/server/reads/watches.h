// WATCH: a stream of events, one JSON object per line.
#pragma once

#include <chrono>

#include "local/server/backend/backend.h"
#include "local/server/writes/writes.h"

namespace local::server {

// A watch that buffers more than this is ended; its client resumes from the last version.
inline constexpr size_t kMaxWatchBacklogBytes = 16 << 20;
// The duration without timeoutSeconds.
inline constexpr std::chrono::seconds kDefaultWatchTimeout{3600};
// How long after the first event that a watcher was not shown it gets a bookmark.
inline constexpr std::chrono::seconds kBookmarkDelay{30};

// Returns at once; the stream lives with its responder.
void HandleWatch(Backend& backend, Call call);

}  // namespace local::server
