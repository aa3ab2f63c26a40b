#include "ads/oci/signature.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>

#include "ads/oci/testing/test_keys.h"

namespace ads::oci {
namespace {

std::shared_ptr<const PrivateKey> ReadTestKey() {
  auto key = PrivateKey::Read(Secret(std::string(kTestKey)), Secret(), "key");
  EXPECT_TRUE(key) << key.error().message;
  return *key;
}

const base::Time kWhen = *ParseHttpDate("Thu, 05 Jan 2034 21:31:40 GMT");

// Both signatures come from openssl(1), for lines written by hand.
TEST(SignRequest, SignsABodyAsOpensslDoes) {
  net::HttpRequest request{.method = "POST",
                           .target = "/20190101/jobRuns?a=b%20c",
                           .headers = {{"content-type", "application/json"}},
                           .body = R"({"jobId":"oci"})"};
  ASSERT_TRUE(SignRequest(request, "datascience.us-ashburn-1.oci.oraclecloud.com", SignedBody::kYes,
                          "t/u/f", *ReadTestKey(), kWhen));
  EXPECT_EQ(net::FindHeader(request.headers, "x-content-sha256"),
            "H0vm008nQ+OrlmfSXo1VVOXoE7O8T6WDfLMnwiiFvV4=");
  EXPECT_EQ(
      net::FindHeader(request.headers, "authorization"),
      "Signature algorithm=\"rsa-sha256\",headers=\"date (request-target) host content-length "
      "content-type x-content-sha256\",keyId=\"t/u/f\",signature=\""
      "FmnlghYJodOmr/eV9IrFZAu926RKnrruGNjFHDoNDWktbqjfeShqsZngtENAg/RDfukXMOQcUuSc5lLf"
      "ST/24S5Rcn781+sKa0NJXWr9/HbWVjrZDJ1eQQQXOnF0dwOAcyyxvrdhvHwzrsq9NV2pXL/YH8DCQeCK"
      "wky0s/3/bMM8RIQhZqewbtxi8uSNUW1xbdwk4vKIWsh1ERaTpzsU6yEqOgUYeQERVaQrSI7Y9aVGTJVq"
      "lFJt0XSSYGf+nhNsTgF/GPWplPGom17xa6kiChD7ETGncKlrzytM8yvuF+9PyZBv5lKxSHEmqNeGRwja"
      "2K1d9TJNVfgHzh3hYzFpVQ==\",version=\"1\"");
}

TEST(SignRequest, SignsThreeLinesWithoutABody) {
  net::HttpRequest request{
      .method = "GET", .target = "/n/ns/b/bkt/o/p2%2Fstop", .headers = {}, .body = {}};
  ASSERT_TRUE(SignRequest(request, "127.0.0.1:8443", SignedBody::kYes, "k", *ReadTestKey(), kWhen));
  EXPECT_EQ(net::FindHeader(request.headers, "date"), "Thu, 05 Jan 2034 21:31:40 GMT");
  EXPECT_EQ(net::FindHeader(request.headers, "host"), "127.0.0.1:8443");
  EXPECT_EQ(net::FindHeader(request.headers, "x-content-sha256"), "");
  const std::string authorization(net::FindHeader(request.headers, "authorization"));
  EXPECT_NE(authorization.find(
                "signature=\"RhO3xiWlWNzJMRd2hE9vO3fz/m71EZs5NXFB2q5pYHmIHB0Pq/zPiAFp1eCUIX89jfEo3x"
                "6MoJ+ywP9AQiyPPkDgkvgJ4qskgLi4t9XCr31Y+Q17Yv3EB7xij2lObL9VgdAKpKm3XBERpL6kwqbrxmFo"
                "Hksfnh6NZGfZLqGSEb4metAKwbbSEH+V0KaSzN7/"
                "4WhacaXJ2l0gV5aHwwSj5o+tkCKUfESd/ax7a8S6528O4b4eVA4jKClS5LxBV7/HUXpZw22hUy0DbTzpN"
                "XR6QdA0LEW1Gz+Kuv6lD2tEfmq7ky5LyYtLsYY3gI7twyIyXX7d+15wm07ZOCgGUG3cRg==\""),
            std::string::npos)
      << authorization;
}

TEST(SigningString, OfUploadsLeavesTheBodyOut) {
  net::HttpRequest request{
      .method = "PUT", .target = "/x", .headers = {{"date", "d"}}, .body = "b"};
  EXPECT_EQ(SignedHeaders("PUT", SignedBody::kNo), "date (request-target) host");
  EXPECT_EQ(SigningString(request, "date (request-target) content-length"),
            "date: d\n(request-target): put /x\ncontent-length: 1");
}

TEST(Sha256Base64, OfNothingIsTheKnownDigest) {
  EXPECT_EQ(Sha256Base64(""), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
  EXPECT_EQ(Md5Base64(""), "1B2M2Y8AsgTpgAmY7PhCfg==");
}

TEST(HttpDate, ReadsWhatItWrites) {
  for (const char* text : {"Thu, 01 Jan 1970 00:00:00 GMT", "Thu, 29 Feb 2024 23:59:59 GMT"}) {
    const auto time = ParseHttpDate(text);
    ASSERT_TRUE(time) << text;
    EXPECT_EQ(FormatHttpDate(*time), text);
  }
  for (const char* text : {"", "Thu, 30 Feb 2024 00:00:00 GMT", "Thu, 01 Foo 2024 00:00:00 GMT",
                           "Thu, 01 Jan 2024 24:00:00 GMT", "Thu, 01 Jan 2024 00:00 GMT",
                           "Thu, 01 Jan 99999 00:00:00 GMT"}) {
    EXPECT_FALSE(ParseHttpDate(text)) << text;
  }
}

TEST(PrivateKey, HasTheFingerprintThatTheConsoleShows) {
  EXPECT_EQ(ReadTestKey()->Fingerprint(), kTestFingerprint);
}

TEST(PrivateKey, OpensEncryptedKeysWithTheirPassPhrase) {
  for (const std::string& pem : {kTestKeyEncrypted, kTestKeyEncryptedOld}) {
    const auto key =
        PrivateKey::Read(Secret(std::string(pem)), Secret(std::string("pw")), "the key");
    ASSERT_TRUE(key) << key.error().message;
    EXPECT_EQ((*key)->Fingerprint(), kTestFingerprint);
    EXPECT_EQ(PrivateKey::Read(Secret(std::string(pem)), Secret(), "the key").error().message,
              "the key: it is encrypted: set pass_phrase");
    EXPECT_EQ(PrivateKey::Read(Secret(std::string(pem)), Secret(std::string("x")), "the key")
                  .error()
                  .message,
              "the key: pass_phrase does not open it");
  }
}

TEST(PrivateKey, RefusesWhatIsNoRsaKey) {
  EXPECT_EQ(
      PrivateKey::Read(Secret(std::string("-----BEGIN")), Secret(), "the key").error().message,
      "the key: it holds no private key (PEM)");
  EXPECT_EQ(PrivateKey::Read(Secret(std::string(kTestKeyEc)), Secret(), "the key").error().message,
            "the key: it is not an RSA key; the service takes RSA keys only");
}

TEST(PrivateKey, KeepsTheProcessFromLeavingACoreDump) {
  ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  const auto key = ReadTestKey();
  EXPECT_EQ(::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 0);
  ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

TEST(Secret, IsWipedWhereItCameFrom) {
  std::string text = "a secret that is long enough to be on the heap";
  const char* const bytes = text.data();
  Secret secret(std::move(text));
  EXPECT_EQ(*bytes, '\0');
  EXPECT_TRUE(text.empty());  // NOLINT(bugprone-use-after-move): wiping it is the contract
  const Secret moved = std::move(secret);
  EXPECT_EQ(moved.text(), "a secret that is long enough to be on the heap");
  EXPECT_TRUE(secret.empty());  // NOLINT(bugprone-use-after-move)
}

}  // namespace
}  // namespace ads::oci
