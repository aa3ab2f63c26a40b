// GET of one object and of collections, as objects or as tables.
#pragma once

#include "local/server/backend/backend.h"
#include "local/server/writes/writes.h"

namespace local::server {

// Both have answered when they return.
void HandleGet(Backend& backend, const Call& call);
void HandleList(Backend& backend, const Call& call);

}  // namespace local::server
