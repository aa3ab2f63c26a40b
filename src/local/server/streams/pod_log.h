// GET on pods/{name}/log.
#pragma once

#include "local/server/backend/backend.h"
#include "local/server/writes/writes.h"

namespace local::server {

void HandleLog(Backend& backend, Call call);

}  // namespace local::server
