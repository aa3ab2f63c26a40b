// GET on pods/{name}/log.
#pragma once

#include "local/server/routing/backend.h"
#include "local/server/routing/writes.h"

namespace local::server {

void HandleLog(Backend& backend, Call call);

}  // namespace local::server
