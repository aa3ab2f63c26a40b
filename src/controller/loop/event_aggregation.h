// Merges similar events about one job into one event.
#pragma once

#include <vector>

#include "reconcile/reconcile.h"

namespace controller {

// The longest message that the API server accepts (core/v1 Event validation).
inline constexpr size_t kMaxEventMessage = 1024;

// The most children of a kind that have an event each. v1 writes up to 25 events of a job in a row,
// which are those of 12 pods and their services, and drops the others.
inline constexpr size_t kMostEventsApart = 12;

// Merges more than `most_apart` events with the same reason about created or deleted children,
// `Created pod: <name>`, into one at the place of the first, `Created 3 pods: <name>, <name>,
// <name>`; names that do not fit are counted, `and 37 more`. Leaves all other events as they are.
// Pure.
std::vector<reconcile::Event> AggregateEvents(std::vector<reconcile::Event> events,
                                              size_t most_apart);

}  // namespace controller
