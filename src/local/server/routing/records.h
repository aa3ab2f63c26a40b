// /muster/records: runs that are over (store/kept.h), for muster's own commands.
//   GET    ?namespace=&name=&id=&limit=   jobs, the newest first; `id` is the beginning of a uid
//          ?run=UID                       the pods of one that are gone
//          {"items": [{"deleted": TIME, "object": {...}}], "total": HOW MANY WITHOUT A LIMIT}
//   DELETE ?run=UID                       forgets it with its pods
#pragma once

#include <optional>
#include <string_view>

#include "local/server/routing/backend.h"
#include "net/http/types.h"

namespace local::server {

// Nullopt for other requests.
std::optional<net::HttpResponse> AnswerRecords(Backend& backend, const net::Target& target,
                                               std::string_view method);

}  // namespace local::server
