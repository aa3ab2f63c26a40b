#include "ads/oci/region.h"

#include <gtest/gtest.h>

#include <set>

#include "ads/oci/region_table.h"
#include "ads/testing/temporary_folder.h"
#include "base/file.h"

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
  EXPECT_EQ(Endpoint(Service::kSecrets, "evil.com/"),
            "\"evil.com/\" is not a region: us-ashburn-1");
}

TEST(EndpointOf, KnowsEveryRegionByBothNamesAndItsRealm) {
  std::set<std::string_view> names;
  for (const RegionRow& row : kRegionTable) {
    const std::string by_name = Endpoint(Service::kObjectStorage, row.name);
    EXPECT_EQ(by_name, Endpoint(Service::kObjectStorage, row.key));
    EXPECT_TRUE(by_name.starts_with("https://objectstorage." + std::string(row.name) + "."));
    names.insert({row.name, row.key});
  }
  EXPECT_EQ(kRegionTable.size(), 85U);
  EXPECT_EQ(names.size(), 2 * kRegionTable.size());
  const auto domain = [](std::string_view region) {
    const std::string url = Endpoint(Service::kDataScience, region);
    return url.substr(url.find(".oci.") + 5);
  };
  EXPECT_EQ(domain("eu-jovanovac-1"), "oraclecloud20.com:443");
  EXPECT_EQ(domain("me-dcc-doha-1"), "oraclecloud21.com:443");
  EXPECT_EQ(domain("ap-dcc-gazipur-1"), "oraclecloud15.com:443");
  EXPECT_EQ(domain("eu-frankfurt-2"), "oraclecloud.eu:443");
  EXPECT_EQ(domain("uk-gov-london-1"), "oraclegovcloud.uk:443");
  EXPECT_EQ(domain("us-ashburn-2"), "oraclecloud42.com:443");
  EXPECT_EQ(domain("sa-riodejaneiro-1"), "oraclecloud52.com:443");
}

TEST(EndpointOf, LearnsNewRegionsAsOraclesSdkDoes) {
  const TemporaryFolder home;
  const std::string path = home.path() + "/.oci/regions-config.json";
  base::Environment environment;
  environment.Set("HOME", home.path());
  environment.Set("OCI_REGION_METADATA",
                  R"({"realmKey":"OC99","realmDomainComponent":"Example.ORG","regionKey":"XYZ",)"
                  R"("regionIdentifier":"xx-new-1"})");
  EXPECT_EQ(Endpoint(Service::kNetwork, "xyz", environment),
            "https://iaas.xx-new-1.example.org:443");
  ASSERT_TRUE(base::MakeDirs(base::DirectoryOf(path)));
  ASSERT_TRUE(base::WriteFileAtomic(
      path,
      R"([{"regionKey":"half"},{"realmKey":"oc98","realmDomainComponent":"a.example",)"
      R"("regionKey":"abc","regionIdentifier":"xx-new-2"},{"realmKey":"oc1",)"
      R"("realmDomainComponent":"evil.example","regionKey":"iad","regionIdentifier":"iad"}])",
      0600, base::Durability::kNone));
  EXPECT_EQ(Endpoint(Service::kNetwork, "XX-NEW-2", environment),
            "https://iaas.xx-new-2.a.example:443");
  // Known regions cannot be redefined.
  EXPECT_EQ(Endpoint(Service::kNetwork, "iad", environment),
            "https://iaas.us-ashburn-1.oraclecloud.com:443");
  environment.Set("OCI_DEFAULT_REALM", "evil.com/?");
  EXPECT_EQ(Endpoint(Service::kNetwork, "xx-new-9", environment),
            "\"evil.com/?\" is not a domain for region xx-new-9: oraclecloud.com");
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
  EXPECT_TRUE(IsServedHere(Service::kDataScience, all));
  EXPECT_FALSE(IsServedHere(Service::kDataScience, both));
  EXPECT_TRUE(IsServedHere(Service::kLogging, both));
  EXPECT_FALSE(IsServedHere(Service::kDataScience, {}));
}

}  // namespace
}  // namespace ads::oci
