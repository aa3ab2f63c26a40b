// metadata.managedFields: which manager set which field of an object, as server-side apply needs
// it. Pure. https://kubernetes.io/docs/reference/using-api/server-side-apply/
#pragma once

#include <string>
#include <string_view>

#include "api/resources.h"
#include "base/clock.h"
#include "local/server/request/api_error.h"
#include "local/server/request/rest_request.h"
#include "net/http/types.h"
#include "text/json.h"

namespace local::server {

// Beyond this many, Update entries are merged into one, the oldest first.
inline constexpr size_t kMaxUpdateManagers = 10;
inline constexpr size_t kMaxManagerName = 128;

// The writer's name: fieldManager, otherwise the part of User-Agent before the first "/". "" stands
// for muster itself (this process or a command), whose writes are not recorded.
std::string FieldManagerOf(const RestRequest& request, const net::HttpRequest& http);

struct FieldWriter {
  std::string manager;
  std::string subresource;  // "status", "scale", ""
};

// Gives `object`, the successor of `before` (null: it is new), its managedFields. `sent` is the
// client's own managedFields (null: it sent none): an empty list resets the stored ones, any other
// list replaces them.
void RecordUpdate(const api::Resource& resource, const FieldWriter& writer, base::Time now,
                  const text::Json& before, const text::Json& sent, text::Json& object);

// The result of applying `applied` to `live` (null: it does not exist yet), including
// managedFields. 409 with the conflicts, unless `force`.
Answer<text::Json> ApplyConfiguration(const api::Resource& resource, const FieldWriter& writer,
                                      base::Time now, bool force, const text::Json& live,
                                      const text::Json& applied);

}  // namespace local::server
