// PATCH with application/apply-patch+yaml: server-side apply.
#pragma once

#include "local/server/backend/backend.h"
#include "local/server/writes/writes.h"

namespace local::server {

bool IsApply(const net::HttpRequest& http);
// Creates the object when there is none (201). Returns at once.
void HandleApply(Backend& backend, Call call);

}  // namespace local::server
