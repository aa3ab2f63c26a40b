// GET on pods/{name}/log.
#pragma once

#include "local/server/backend.h"
#include "local/server/writes.h"

namespace local::server {

void HandleLog(Backend& backend, Call call);

}  // namespace local::server
