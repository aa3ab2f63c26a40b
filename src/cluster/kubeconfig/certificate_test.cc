#include "cluster/kubeconfig/certificate.h"

#include <gtest/gtest.h>

namespace cluster {
namespace {

// Self-signed, /O=team/CN=alice.
constexpr const char* kAlice = R"(-----BEGIN CERTIFICATE-----
MIIBkzCCATmgAwIBAgIUNrYkZm1lbldlo6SW5vks6u7jGhswCgYIKoZIzj0EAwIw
HzENMAsGA1UECgwEdGVhbTEOMAwGA1UEAwwFYWxpY2UwHhcNMjYxMTIxMTM0MDQ3
WhcNMjYxMjAxMTM0MDQ3WjAfMQ0wCwYDVQQKDAR0ZWFtMQ4wDAYDVQQDDAVhbGlj
ZTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABM3/SHuaYT4q8xS9EDKzRMLKKVJH
d2ri8J8NYTk0724spDcsOgA9m+FPBkz0LYzhOKfc5jkkMjaJhlsNnV2ah4ajUzBR
MB0GA1UdDgQWBBSh3PVmeD0EAEGNCVA0BRFpUX4f8TAfBgNVHSMEGDAWgBSh3PVm
eD0EAEGNCVA0BRFpUX4f8TAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gA
MEUCIEIG0eZxHXrFgYjFpqf9jqIPEFAynXiCK2lyciAo4dfkAiEAmfF60M74PZro
m+OzkM6mIonsWBvSS1ypEB4mdh0OY8M=
-----END CERTIFICATE-----
)";

TEST(Certificate, SaysWhoseItIsAndWhenItEnds) {
  const auto certificate = ReadCertificate(kAlice);
  ASSERT_TRUE(certificate) << certificate.error().message;
  EXPECT_EQ(certificate->common_name, "alice");
  EXPECT_EQ(base::FormatRfc3339(certificate->not_before), "2026-11-21T13:40:47Z");
  EXPECT_EQ(certificate->not_after - certificate->not_before, std::chrono::days(10));
}

TEST(Certificate, RefusesWhatIsNone) {
  for (const char* text :
       {"", "garbage", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"}) {
    EXPECT_FALSE(ReadCertificate(text)) << text;
  }
}

}  // namespace
}  // namespace cluster
