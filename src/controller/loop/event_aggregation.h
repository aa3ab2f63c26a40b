// Events of one kind on one job, told as one.
#pragma once

#include <vector>

#include "reconcile/reconcile.h"

namespace controller {

// The API server takes no longer message (core/v1 Event validation).
inline constexpr size_t kMaxEventMessage = 1024;

// Events of the same reason about children made or deleted, `Created pod: <name>`, become one at
// the place of the first, `Created 3 pods: <name>, <name>, <name>`; names that do not fit are
// counted, `and 37 more`. All others stay as they are. Pure.
std::vector<reconcile::Event> AggregateEvents(std::vector<reconcile::Event> events);

}  // namespace controller
