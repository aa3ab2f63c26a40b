// metadata.managedFields: who set which field of an object, and server-side apply, which asks it.
// Pure. https://kubernetes.io/docs/reference/using-api/server-side-apply/
#pragma once

#include <string>
#include <string_view>

#include "api/resources.h"
#include "base/clock.h"
#include "local/server/routing/api_error.h"
#include "local/server/routing/rest_request.h"
#include "net/http/types.h"
#include "text/json.h"

namespace local::server {

// Update entries beyond are merged into one, the oldest first.
inline constexpr size_t kMaxUpdateManagers = 10;
inline constexpr size_t kMaxManagerName = 128;

// Who writes: fieldManager, else what stands before the first "/" of User-Agent. "" is muster
// itself (in this process, or a command), whose writes are not recorded.
std::string FieldManagerOf(const RestRequest& request, const net::HttpRequest& http);

struct FieldWriter {
  std::string manager;
  std::string subresource;  // "status", "scale", ""
};

// Gives `object`, the successor of `before` (null: it is new), its managedFields. `sent` is what
// the client said of them (null: nothing): an empty list resets them, another one replaces the
// stored.
void RecordUpdate(const api::Resource& resource, const FieldWriter& writer, base::Time now,
                  const text::Json& before, const text::Json& sent, text::Json& object);

// `live` (null: there is none yet) after `applied` was applied to it, managedFields and all.
// 409 with the conflicts, unless `force`.
Answer<text::Json> ApplyConfiguration(const api::Resource& resource, const FieldWriter& writer,
                                      base::Time now, bool force, const text::Json& live,
                                      const text::Json& applied);

}  // namespace local::server
