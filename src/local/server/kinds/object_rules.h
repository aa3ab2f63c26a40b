// The server's own part in an object: its names, its metadata, its defaults. Pure.
#pragma once

#include <string>
#include <string_view>

#include "api/resources.h"
#include "base/clock.h"
#include "local/server/request/api_error.h"
#include "local/server/request/rest_request.h"
#include "text/json.h"

namespace local::server {

inline constexpr std::string_view kForegroundFinalizer = "foregroundDeletion";
inline constexpr int64_t kDefaultGraceSeconds = 30;

// The object in a body. Its apiVersion, kind and namespace are checked against the path and filled
// in.
Answer<text::Json> DecodeObject(const RestRequest& request, const net::HttpRequest& http);
// The same for an object from another source.
Answer<text::Json> NameObject(const RestRequest& request, text::Json object);
// Any JSON (or YAML, by Content-Type) body; the refusal calls it `what`.
Answer<text::Json> DecodeBody(const net::HttpRequest& http, std::string_view what);

// Checks an object's metadata.name, labels and so on by Kubernetes' rules. `old`: the object that
// it replaces, or nullptr; owner references that it has, too, are not checked: an earlier version
// may have stored what is refused now, and the object could never be changed again.
Check CheckMetadata(const api::Resource& resource, const text::Json& object, const text::Json* old);

// Compares everything except metadata and status.
bool HasSameContent(const text::Json& a, const text::Json& b);

// Gives a new object its uid, creationTimestamp, first generation, initial status and defaults.
void PrepareCreate(const api::Resource& resource, base::Time now, text::Json& object);
// Sets the fields that no manager owns; called after managedFields were recorded.
void FillIn(const api::Resource& resource, base::Time now, text::Json& object);
// Checks an object by the rules of its kind (pods: their containers).
Check CheckSpec(const api::Resource& resource, const text::Json& object);

// Makes `object` the successor of `old`: keeps the fields that the server owns, and raises
// metadata.generation for a new spec. 422 when an immutable field changed.
Check PrepareUpdate(const api::Resource& resource, const text::Json& old, text::Json& object);
// The same for the status subresource: takes only the status from `object`.
void PrepareStatusUpdate(const text::Json& old, text::Json& object);

// Whether metadata.finalizers is not empty.
bool HasFinalizers(const text::Json& object);
bool HasFinalizer(const text::Json& object, std::string_view name);
void AddFinalizer(text::Json& object, std::string_view name);
void RemoveFinalizer(text::Json& object, std::string_view name);

}  // namespace local::server
