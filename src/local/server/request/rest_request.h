// A request's place in the REST API.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/resources.h"
#include "api/schema/unknown_fields.h"
#include "local/server/request/api_error.h"
#include "local/store/object.h"
#include "net/http/types.h"

namespace local::server {

using api::FieldValidation;

// /api/v1/namespaces/{ns}/{plural}/{name}/{subresource}, /apis/{group}/{version}/...
struct RestRequest {
  net::Target target;
  const api::Resource* resource = nullptr;
  std::string namespace_name;  // "" for all namespaces, and for kinds without one
  std::string name;            // "" for the collection
  std::string subresource;

  store::Key key() const { return {store::ResourceName(*resource), namespace_name, name}; }
  // "1", "true", ... as Go's strconv.ParseBool.
  bool Flag(std::string_view parameter) const;
  // dryRun=All. Any other non-empty value is refused.
  Answer<bool> IsDryRun(std::string_view method) const;
  // fieldValidation: Strict, Warn (the default) or Ignore. Any other value is refused.
  Answer<FieldValidation> HowToValidate(std::string_view method) const;
  // An integer; nullopt when absent or "".
  Answer<std::optional<int64_t>> Number(std::string_view parameter) const;
};

// Nullopt when the path belongs to no resource that we serve.
std::optional<RestRequest> ParseRestRequest(net::Target target);

}  // namespace local::server
