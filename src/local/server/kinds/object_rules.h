// What the server itself decides about an object: its names, its metadata, its defaults. Pure.
#pragma once

#include <string>
#include <string_view>

#include "api/resources.h"
#include "base/clock.h"
#include "local/server/routing/api_error.h"
#include "local/server/routing/rest_request.h"
#include "text/json.h"

namespace local::server {

inline constexpr std::string_view kForegroundFinalizer = "foregroundDeletion";
inline constexpr int64_t kDefaultGraceSeconds = 30;

// The object in a body, its apiVersion, kind and namespace checked against the path and filled in.
Answer<text::Json> DecodeObject(const RestRequest& request, const net::HttpRequest& http);
// The same of an object that came in another way.
Answer<text::Json> NameObject(const RestRequest& request, text::Json object);
// Any JSON (or YAML, by Content-Type) body; `what` names it in the refusal.
Answer<text::Json> DecodeBody(const net::HttpRequest& http, std::string_view what);

// metadata.name, labels and so on as Kubernetes demands them; for an object that is new.
Check CheckMetadata(const api::Resource& resource, const text::Json& object);

// Gives a new object its uid, creationTimestamp, first generation, initial status and defaults.
void PrepareCreate(const api::Resource& resource, base::Time now, text::Json& object);
// After the fields' managers were noted: what nobody owns.
void FillIn(const api::Resource& resource, text::Json& object);
// What the object needs to be of use at all (pods: containers with name and image).
Check CheckSpec(const api::Resource& resource, const text::Json& object);

// Makes `object` the successor of `old`: what the server owns is kept, a new spec raises
// metadata.generation. 422 when something changed that must not.
Check PrepareUpdate(const api::Resource& resource, const text::Json& old, text::Json& object);
// The same for the status subresource: only status is taken from `object`.
void PrepareStatusUpdate(const text::Json& old, text::Json& object);

// Whether metadata.finalizers holds any.
bool HasFinalizers(const text::Json& object);
bool HasFinalizer(const text::Json& object, std::string_view name);
void AddFinalizer(text::Json& object, std::string_view name);
void RemoveFinalizer(text::Json& object, std::string_view name);

}  // namespace local::server
