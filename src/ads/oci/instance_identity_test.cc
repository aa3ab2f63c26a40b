#include "ads/oci/instance_identity.h"

#include <gtest/gtest.h>

#include "ads/oci/testing/test_keys.h"
#include "text/json.h"

namespace ads::oci {
namespace {

InstanceIdentity ReadTestIdentity() {
  auto identity =
      InstanceIdentity::Read(kTestCertificate, Secret(std::string(kTestKey)), kTestCertificate);
  EXPECT_TRUE(identity) << identity.error().message;
  return identity.value_or(InstanceIdentity());
}

TEST(InstanceIdentity, ReadsTheTenancyOfTheCertificate) {
  const InstanceIdentity identity = ReadTestIdentity();
  EXPECT_EQ(identity.tenancy, "ocid1.tenancy.oc1..t");
  EXPECT_EQ(identity.fingerprint, kTestCertificateFingerprint);
  EXPECT_EQ(identity.intermediates, std::vector<std::string>{identity.certificate});
}

TEST(InstanceIdentity, NamesWhatCannotBeRead) {
  const auto read = [](std::string_view certificate, std::string key) {
    const auto identity = InstanceIdentity::Read(certificate, Secret(std::move(key)), "");
    return identity ? "" : identity.error().message;
  };
  EXPECT_EQ(read("no certificate", kTestKey), "the instance's certificate (cert.pem) is none");
  EXPECT_EQ(read(kTestCertificateOfNobody, kTestKey),
            "the instance's certificate (cert.pem) names no tenancy (opc-tenant:)");
  EXPECT_EQ(read(kTestCertificate, "no key"),
            "the instance's private key (key.pem): it holds no private key (PEM)");
}

TEST(TokenRequest, IsSignedWithTheInstancesKey) {
  const InstanceIdentity identity = ReadTestIdentity();
  const auto session_key = PrivateKey::Generate();
  ASSERT_TRUE(session_key);
  const base::Time now{std::chrono::seconds(1'700'000'000)};
  const auto request = TokenRequest(identity, **session_key, "/v1/x509", "auth.host", now);
  ASSERT_TRUE(request);
  const auto body = *text::ParseJson(request->body);
  EXPECT_EQ(text::GetString(body, {"certificate"}), identity.certificate);
  EXPECT_EQ(text::GetString(body, {"publicKey"}), (*session_key)->PublicKeyBase64());
  EXPECT_EQ(text::FindArray(body, {"intermediateCertificates"})->size(), 1U);
  const std::string authorization(net::FindHeader(request->headers, "authorization"));
  EXPECT_NE(authorization.find("keyId=\"ocid1.tenancy.oc1..t/fed-x509/" + identity.fingerprint),
            std::string::npos);
  const std::string signed_text =
      "date: Tue, 14 Nov 2023 22:13:20 GMT\n(request-target): post /v1/x509\ncontent-length: " +
      std::to_string(request->body.size()) +
      "\ncontent-type: application/json\nx-content-sha256: " + Sha256Base64(request->body);
  EXPECT_NE(authorization.find("signature=\"" + *identity.key->Sign(signed_text) + "\""),
            std::string::npos);
}

TEST(TokenOf, IsInTheAnswer) {
  EXPECT_EQ(*TokenOf(R"({"token":"t"})"), "t");
  for (const char* none : {"", "{}", "[]", R"({"token":1})"}) EXPECT_FALSE(TokenOf(none)) << none;
}

}  // namespace
}  // namespace ads::oci
