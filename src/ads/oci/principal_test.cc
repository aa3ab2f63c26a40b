#include "ads/oci/principal.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "ads/oci/testing/test_keys.h"
#include "base/file.h"
#include "base/strings.h"

namespace ads::oci {
namespace {

const base::Time kNow{std::chrono::seconds(2'000'000'000)};

// A JWT that expires then.
std::string TokenUntil(int64_t seconds, std::string_view mark = "") {
  std::string claims = base::Base64Encode("{\"exp\":" + std::to_string(seconds) + ",\"m\":\"" +
                                          std::string(mark) + "\"}");
  while (claims.ends_with('=')) claims.pop_back();
  return "e30." + claims + ".c2ln";
}

class PrincipalTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/muster-oci-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    Write("key.pem", kTestKey);
  }
  void TearDown() override { EXPECT_TRUE(base::RemoveTree(folder_)); }

  std::string Write(const std::string& name, std::string_view text) {
    const std::string path = folder_ + "/" + name;
    EXPECT_TRUE(base::WriteFileAtomic(path, text, 0600, base::Durability::kNone));
    return path;
  }
  base::Result<std::unique_ptr<Principal>> OpenIt(const std::string& auth) {
    return OpenPrincipal({auth, folder_ + "/config", "DEFAULT"}, environment_, clock_);
  }
  std::string WhyNot(const std::string& auth) {
    auto principal = OpenIt(auth);
    if (!principal) return principal.error().message;
    auto shown = (*principal)->Show();
    return shown ? "" : shown.error().message;
  }
  void WriteConfig(const std::string& fingerprint, const std::string& more = "") {
    Write("config",
          "[DEFAULT]\nuser=ocid1.user.oc1..u\ntenancy=ocid1.tenancy.oc1..t\nfingerprint=" +
              fingerprint + "\nkey_file=" + folder_ + "/key.pem\nregion=us-ashburn-1\n" + more);
  }
  void UseResourcePrincipal(const std::string& token, const std::string& key) {
    environment_.Set("OCI_RESOURCE_PRINCIPAL_VERSION", "2.2");
    environment_.Set("OCI_RESOURCE_PRINCIPAL_RPST", token);
    environment_.Set("OCI_RESOURCE_PRINCIPAL_PRIVATE_PEM", key);
    environment_.Set("OCI_RESOURCE_PRINCIPAL_REGION", "iad");
  }

  std::string folder_;
  base::Environment environment_;
  base::FakeClock clock_{kNow};
};

TEST_F(PrincipalTest, OfAnApiKeyNamesTenancyUserAndFingerprint) {
  WriteConfig(kTestFingerprint);
  auto principal = OpenIt("api_key");
  ASSERT_TRUE(principal) << principal.error().message;
  EXPECT_EQ((*principal)->origin().region, "us-ashburn-1");
  const auto shown = (*principal)->Show();
  ASSERT_TRUE(shown) << shown.error().message;
  EXPECT_EQ(shown->key_id, "ocid1.tenancy.oc1..t/ocid1.user.oc1..u/" + kTestFingerprint);
  EXPECT_FALSE((*principal)->Refused(shown->key_id));
}

TEST_F(PrincipalTest, ComparesTheFingerprintWithTheKey) {
  WriteConfig("00:4b:3e:20:e1:42:97:d4:0e:90:49:cc:35:22:c1:fa");
  EXPECT_EQ(WhyNot("api_key"),
            "InvalidConfig: fingerprint of profile DEFAULT in " + folder_ +
                "/config is 00:4b:3e:20:e1:42:97:d4:0e:90:49:cc:35:22:c1:fa, and the key in " +
                folder_ + "/key.pem has " + kTestFingerprint + ": correct the one or the other");
}

TEST_F(PrincipalTest, OpensAnEncryptedKeyByItsPassPhrase) {
  Write("key.pem", kTestKeyEncrypted);
  WriteConfig(kTestFingerprint);
  EXPECT_EQ(WhyNot("api_key"), "InvalidPrivateKey: key_file \"" + folder_ +
                                   "/key.pem\" of profile DEFAULT in " + folder_ +
                                   "/config: it is encrypted: set pass_phrase");
  WriteConfig(kTestFingerprint, "pass_phrase=pw\n");
  EXPECT_EQ(WhyNot("api_key"), "");
}

TEST_F(PrincipalTest, NamesAKeyFileThatIsNotThere) {
  WriteConfig(kTestFingerprint, "[OTHER]\n");
  ASSERT_TRUE(base::RemoveTree(folder_ + "/key.pem"));
  EXPECT_TRUE(WhyNot("api_key").starts_with("InvalidKeyFilePath: key_file of profile DEFAULT"));
}

TEST_F(PrincipalTest, ReadsASecurityTokenAgainWhenItHasRunOut) {
  Write("token", TokenUntil(2'000'001'000) + "\n");
  WriteConfig(kTestFingerprint, "security_token_file=" + folder_ + "/token\n");
  auto principal = OpenIt("security_token");
  ASSERT_TRUE(principal);
  EXPECT_EQ((*principal)->Show()->key_id, "ST$" + TokenUntil(2'000'001'000));
  clock_.Advance(std::chrono::seconds(1001));
  EXPECT_EQ((*principal)->Show().error().message,
            "the session token expired at 2033-05-18T03:50:00Z: renew it with `oci session "
            "authenticate --profile-name DEFAULT`");
  Write("token", TokenUntil(2'000'009'000));
  EXPECT_EQ((*principal)->Show()->key_id, "ST$" + TokenUntil(2'000'009'000));
}

TEST_F(PrincipalTest, OfAResourceReadsValuesAndFiles) {
  UseResourcePrincipal(TokenUntil(2'000'001'000), kTestKey);
  EXPECT_EQ(WhyNot("resource_principal"), "");
  UseResourcePrincipal(Write("rpst", TokenUntil(2'000'001'000)),
                       Write("rp.pem", kTestKeyEncrypted));
  EXPECT_EQ(WhyNot("resource_principal"),
            "resource principal: OCI_RESOURCE_PRINCIPAL_PRIVATE_PEM: it is encrypted: set "
            "pass_phrase");
  environment_.Set("OCI_RESOURCE_PRINCIPAL_PRIVATE_PEM_PASSPHRASE", Write("pass", "pw"));
  EXPECT_EQ(WhyNot("resource_principal"), "");
}

TEST_F(PrincipalTest, OfAResourceIsRenewedWhenItIsRefused) {
  const std::string path = Write("rpst", TokenUntil(2'000'001'000, "a"));
  UseResourcePrincipal(path, kTestKey);
  auto principal = OpenIt("resource_principal");
  ASSERT_TRUE(principal);
  EXPECT_EQ((*principal)->origin().region, "iad");
  const std::string first = (*principal)->Show()->key_id;
  EXPECT_FALSE((*principal)->Refused(first));
  Write("rpst", TokenUntil(2'000'001'000, "b"));
  EXPECT_TRUE((*principal)->Refused(first));
  EXPECT_NE((*principal)->Show()->key_id, first);
}

TEST_F(PrincipalTest, OfAResourceSaysWhatIsMissing) {
  EXPECT_TRUE(WhyNot("resource_principal")
                  .starts_with("resource principal: OCI_RESOURCE_PRINCIPAL_VERSION is not set"));
  environment_.Set("OCI_RESOURCE_PRINCIPAL_VERSION", "1.1");
  EXPECT_EQ(WhyNot("resource_principal"),
            "resource principal: OCI_RESOURCE_PRINCIPAL_VERSION is 1.1; 2.2 is the one that is "
            "known");
  EXPECT_EQ(WhyNot("magic"),
            "auth \"magic\" is not known here: use api_key, security_token, "
            "resource_principal or instance_principal");
}

}  // namespace
}  // namespace ads::oci
