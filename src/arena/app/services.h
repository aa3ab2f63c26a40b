// How services of a cluster are reached from outside of it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/client.h"
#include "text/json.h"

namespace arena {

// The address that its load balancer has given it: an IP, or a name as AWS's balancers have. "" if
// there is none.
std::string IngressHost(const text::Json& service);

// The number in that field of its first port: "port" or "nodePort". 0 if there is none.
int64_t FirstPort(const text::Json& service, std::string_view field);

struct ServiceChoice {
  std::string_view label_selector;
  std::string_view port;  // "" means the service's first
};

// The path under which the API server passes HTTP requests on to a service of any namespace: the
// first that the first of `choices` selects, otherwise that the next one selects. "" if there is
// none, or if the user may not list services.
base::Result<std::string> FindServiceProxy(cluster::Client& client,
                                           std::initializer_list<ServiceChoice> choices);

}  // namespace arena
