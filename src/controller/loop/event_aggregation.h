// Merges similar events about one job into one event.
#pragma once

#include <vector>

#include "reconcile/reconcile.h"

namespace controller {

// The longest message that the API server accepts (core/v1 Event validation).
inline constexpr size_t kMaxEventMessage = 1024;

// Merges events with the same reason about created or deleted children, `Created pod: <name>`, into
// one at the place of the first, `Created 3 pods: <name>, <name>, <name>`; names that do not fit
// are counted, `and 37 more`. Leaves all other events as they are. Pure.
std::vector<reconcile::Event> AggregateEvents(std::vector<reconcile::Event> events);

}  // namespace controller
