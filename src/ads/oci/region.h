// Where the services are (compat/opctl.md 5.5).
#pragma once

#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/result.h"
#include "net/socket/url.h"

namespace ads::oci {

enum class Service {
  kDataScience,
  kLogging,        // searches: the same endpoint as kLogManagement
  kLogManagement,  // log groups
  kObjectStorage,
  kNetwork,
  kSecrets,
  kAuth,  // tokens for instances
};

// As the errors of Oracle's SDK name it: "data_science".
std::string_view ServiceName(Service service);

// "iad" -> "us-ashburn-1"; what is not a short name stays, in lower case.
std::string RegionName(std::string_view region);

// https://datascience.us-ashburn-1.oci.oraclecloud.com. A region that Oracle has made since
// region_table.h is looked for in ~/.oci/regions-config.json, then OCI_REGION_METADATA. For data
// science OCI_ODSC_SERVICE_ENDPOINT replaces it, as in Oracle's own tools; MUSTER_OCI_ENDPOINT
// replaces every service's. http is for this machine's own addresses only.
base::Result<net::Url> EndpointOf(Service service, std::string_view region,
                                  const base::Environment& environment);

}  // namespace ads::oci
