// POST, PUT, PATCH, DELETE. Each becomes a mutation that decides inside the store's transaction;
// the answer is sent once it is durable.
#pragma once

#include <memory>
#include <string_view>

#include "local/server/backend/backend.h"
#include "local/server/request/rest_request.h"
#include "net/http/types.h"

namespace local::server {

// A request to be answered.
struct Call {
  RestRequest rest;
  net::HttpRequest http;
  std::shared_ptr<net::Responder> responder;
};

// All return at once.
void HandleCreate(Backend& backend, Call call);  // POST on a collection
// POST on a collection with this parameter, which only this server knows: the body is a List of one
// object of the collection and of further objects of its namespace, which it will own. Either all
// are created or none; the answer is the owner. (create_with_owned.cc)
inline constexpr std::string_view kWithOwned = "withOwned";
void HandleCreateWithOwned(Backend& backend, Call call);
void HandleUpdate(Backend& backend, Call call);            // PUT, also on status
void HandlePatch(Backend& backend, Call call);             // PATCH, also on status
void HandleDelete(Backend& backend, Call call);            // DELETE
void HandleDeleteCollection(Backend& backend, Call call);  // DELETE on a collection
void HandleScale(Backend& backend, Call call);             // GET, PUT, PATCH on scale (KindRules)
void HandleBinding(Backend& backend, Call call);           // POST on pods/{name}/binding

}  // namespace local::server
