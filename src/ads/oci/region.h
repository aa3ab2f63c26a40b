// The endpoints of the services (compat/opctl.md 5.5).
#pragma once

#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/result.h"
#include "net/socket/url.h"

namespace ads::oci {

enum class Service {
  kDataScience,
  kLogging,        // searches; same endpoint as kLogManagement
  kLogManagement,  // log groups
  kObjectStorage,
  kNetwork,
  kSecrets,
  kAuth,  // tokens for instances
};

// The name in errors of Oracle's SDK: "data_science".
std::string_view ServiceName(Service service);

// "iad" -> "us-ashburn-1"; any other name is returned in lower case.
std::string RegionName(std::string_view region);

// https://datascience.us-ashburn-1.oci.oraclecloud.com. Regions newer than region_table.h are
// looked up in ~/.oci/regions-config.json, then in OCI_REGION_METADATA. OCI_ODSC_SERVICE_ENDPOINT
// replaces the endpoint of data science, as in Oracle's own tools; MUSTER_OCI_ENDPOINT replaces
// that of every service. http is permitted for this machine's own addresses only.
base::Result<net::Url> EndpointOf(Service service, std::string_view region,
                                  const base::Environment& environment);

// Whether one of the two variables sends the service's requests to this machine.
bool IsServedHere(Service service, const base::Environment& environment);

}  // namespace ads::oci
