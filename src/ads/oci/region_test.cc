#include "ads/oci/region.h"

#include <gtest/gtest.h>

namespace ads::oci {
namespace {

std::string Endpoint(Service service, std::string_view region,
                     const base::Environment& environment = {}) {
  const auto url = EndpointOf(service, region, environment);
  return url ? url->scheme + "://" + url->Authority() + url->path : url.error().message;
}

TEST(EndpointOf, FollowsServiceAndRegion) {
  EXPECT_EQ(Endpoint(Service::kDataScience, "us-ashburn-1"),
            "https://datascience.us-ashburn-1.oci.oraclecloud.com:443");
  EXPECT_EQ(Endpoint(Service::kObjectStorage, "PHX"),
            "https://objectstorage.us-phoenix-1.oraclecloud.com:443");
  EXPECT_EQ(Endpoint(Service::kNetwork, "fra"), "https://iaas.eu-frankfurt-1.oraclecloud.com:443");
  EXPECT_EQ(Endpoint(Service::kLogging, "us-gov-ashburn-1"),
            "https://logging.us-gov-ashburn-1.oci.oraclegovcloud.com:443");
  EXPECT_EQ(Endpoint(Service::kSecrets, "xx-new-9"),
            "https://secrets.vaults.xx-new-9.oci.oraclecloud.com:443");
  EXPECT_EQ(Endpoint(Service::kSecrets, "evil.com/"), "\"evil.com/\" is no region: us-ashburn-1");
}

TEST(EndpointOf, IsReplacedByTheEnvironment) {
  base::Environment all;
  all.Set("MUSTER_OCI_ENDPOINT", "http://127.0.0.1:9/x");
  EXPECT_EQ(Endpoint(Service::kObjectStorage, "iad", all), "http://127.0.0.1:9/x");
  const base::Environment both({{"MUSTER_OCI_ENDPOINT", "http://127.0.0.1:9"},
                                {"OCI_ODSC_SERVICE_ENDPOINT", "https://ds.example"}});
  EXPECT_EQ(Endpoint(Service::kDataScience, "iad", both), "https://ds.example:443");
  EXPECT_EQ(Endpoint(Service::kLogging, "iad", both), "http://127.0.0.1:9");
  base::Environment far;
  far.Set("MUSTER_OCI_ENDPOINT", "http://example.com");
  EXPECT_EQ(Endpoint(Service::kLogging, "iad", far),
            "MUSTER_OCI_ENDPOINT: http://example.com sends tokens unencrypted: use https");
}

}  // namespace
}  // namespace ads::oci
