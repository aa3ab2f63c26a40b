#include "net/tls/certificate.h"

#include <gtest/gtest.h>

namespace net {
namespace {

constexpr base::Time kNow{std::chrono::hours(24 * 20'000)};

TEST(Certificate, EndsWhenItIsToEnd) {
  const auto authority = MakeAuthority("test", kNow, std::chrono::hours(100));
  ASSERT_TRUE(authority) << authority.error().message;
  const auto issued = IssueServerCertificate(*authority, {"IP:127.0.0.1", "DNS:localhost"}, kNow,
                                             std::chrono::hours(10));
  ASSERT_TRUE(issued) << issued.error().message;
  EXPECT_EQ(*CertificateEnd(authority->certificate), kNow + std::chrono::hours(100));
  EXPECT_EQ(*CertificateEnd(issued->certificate), kNow + std::chrono::hours(10));
  EXPECT_NE(authority->key, issued->key);
}

TEST(Certificate, WhatIsNoneIsRefused) {
  EXPECT_EQ(CertificateEnd("").error().code, base::Code::kInvalidArgument);
  EXPECT_EQ(CertificateEnd("-----BEGIN CERTIFICATE-----\nAAAA\n").error().code,
            base::Code::kInvalidArgument);
  EXPECT_EQ(IssueServerCertificate({"x", "y"}, {"DNS:a"}, kNow, std::chrono::hours(1)).error().code,
            base::Code::kInvalidArgument);
  const auto authority = MakeAuthority("test", kNow, std::chrono::hours(1));
  EXPECT_FALSE(IssueServerCertificate(*authority, {"nonsense"}, kNow, std::chrono::hours(1)));
}

TEST(Certificate, SaysWhoseItIs) {
  const auto authority = MakeAuthority("test", kNow, std::chrono::hours(100));
  const auto another = MakeAuthority("test", kNow, std::chrono::hours(100));
  const auto issued = IssueServerCertificate(*authority, {"DNS:operator.team.svc", "IP:127.0.0.1"},
                                             kNow, std::chrono::hours(10));
  ASSERT_TRUE(authority && another && issued);
  EXPECT_EQ(*CertificateBegin(issued->certificate), kNow);
  EXPECT_TRUE(IsIssuedBy(issued->certificate, authority->certificate));
  EXPECT_FALSE(IsIssuedBy(issued->certificate, another->certificate));
  EXPECT_FALSE(IsIssuedBy("", authority->certificate));
  EXPECT_TRUE(IsKeyOf(issued->key, issued->certificate));
  EXPECT_FALSE(IsKeyOf(authority->key, issued->certificate));
  EXPECT_FALSE(IsKeyOf("-----BEGIN", issued->certificate));
  EXPECT_TRUE(IsForHost(issued->certificate, "operator.team.svc"));
  EXPECT_TRUE(IsForHost(issued->certificate, "127.0.0.1"));
  EXPECT_FALSE(IsForHost(issued->certificate, "operator.other.svc"));
  EXPECT_FALSE(IsForHost("", "operator.team.svc"));
}

TEST(Certificate, ABundleFallsIntoItsParts) {
  const auto one = MakeAuthority("one", kNow, std::chrono::hours(1));
  const auto two = MakeAuthority("two", kNow, std::chrono::hours(1));
  ASSERT_TRUE(one && two);
  EXPECT_EQ(SplitCertificates("# first\n" + one->certificate + "\nand\n" + two->certificate + "x"),
            (std::vector<std::string>{one->certificate, two->certificate}));
  EXPECT_TRUE(SplitCertificates("-----BEGIN CERTIFICATE-----\nAAAA").empty());
  EXPECT_TRUE(SplitCertificates("").empty());
}

TEST(Certificate, TokensDifferAndFitAHeader) {
  const auto one = RandomToken(32);
  const auto two = RandomToken(32);
  ASSERT_TRUE(one && two);
  EXPECT_NE(*one, *two);
  EXPECT_EQ(one->size(), 43U);
  EXPECT_EQ(one->find_first_of("+/= \n"), std::string::npos);
}

TEST(Certificate, SecretsAreCompared) {
  EXPECT_TRUE(AreEqualSecrets("abc", "abc"));
  EXPECT_FALSE(AreEqualSecrets("abc", "abd"));
  EXPECT_FALSE(AreEqualSecrets("abc", "ab"));
  EXPECT_FALSE(AreEqualSecrets("", "a"));
}

}  // namespace
}  // namespace net
