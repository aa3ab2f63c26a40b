// /muster/records: finished runs (store/kept.h), for muster's own commands.
//   GET    ?namespace=&name=&id=&limit=   jobs, newest first; `id` is the beginning of a uid
//          ?run=UID                       the deleted pods of a run
//          {"items": [{"deleted": TIME, "object": {...}}], "total": NUMBER WITHOUT THE LIMIT}
//   DELETE ?run=UID                       removes it with its pods
#pragma once

#include <optional>
#include <string_view>

#include "local/server/backend/backend.h"
#include "net/http/types.h"

namespace local::server {

// Nullopt for other requests.
std::optional<net::HttpResponse> AnswerRecords(Backend& backend, const net::Target& target,
                                               std::string_view method);

}  // namespace local::server
