#include "controller/operator/webhook_certificates.h"

#include <gtest/gtest.h>

namespace controller {
namespace {

constexpr base::Time kInstalled{std::chrono::hours(24 * 20'000)};
const std::vector<std::string> kHosts = {"operator.team.svc", "127.0.0.1"};

CertificatePlan PlanAt(base::Time now, const WebhookCertificates& stored) {
  auto plan = PlanWebhookCertificates(stored, kHosts, now);
  EXPECT_TRUE(plan) << plan.error().message;
  return plan ? *plan : CertificatePlan{};
}

bool IsTrusted(const WebhookCertificates& certificates, const std::string& known_authorities) {
  for (const std::string& authority : net::SplitCertificates(known_authorities)) {
    if (net::IsIssuedBy(certificates.serving.certificate, authority)) return true;
  }
  return false;
}

TEST(WebhookCertificates, AreMadeOfNothingAndThenRest) {
  const CertificatePlan made = PlanAt(kInstalled, {});
  EXPECT_EQ(net::SplitCertificates(made.next.authorities).size(), 1U);
  EXPECT_TRUE(IsTrusted(made.next, made.next.authorities));
  EXPECT_TRUE(net::IsForHost(made.next.serving.certificate, "operator.team.svc"));
  EXPECT_TRUE(net::IsForHost(made.next.serving.certificate, "127.0.0.1"));
  EXPECT_EQ(made.look_again, kInstalled + kWebhookServingValidity - kRenewWebhookServingBefore);
  const CertificatePlan later = PlanAt(kInstalled + std::chrono::hours(24 * 30), made.next);
  EXPECT_EQ(later.next, made.next);
  EXPECT_EQ(later.look_again, made.look_again);
}

TEST(WebhookCertificates, SurviveTheSecret) {
  const WebhookCertificates made = PlanAt(kInstalled, {}).next;
  EXPECT_EQ(ReadWebhookCertificates(text::Object{{"data", ToSecretData(made)}}), made);
  EXPECT_EQ(ReadWebhookCertificates(text::Object{}), WebhookCertificates{});
  EXPECT_EQ(ReadWebhookCertificates(text::Object{{"data", text::Object{{"ca.crt", "?"}}}}),
            WebhookCertificates{});
}

TEST(WebhookCertificates, TheServingOneIsRenewedUnderTheSameAuthority) {
  const CertificatePlan made = PlanAt(kInstalled, {});
  const CertificatePlan renewed = PlanAt(made.look_again, made.next);
  EXPECT_EQ(renewed.next.authorities, made.next.authorities);
  EXPECT_NE(renewed.next.serving.certificate, made.next.serving.certificate);
  EXPECT_TRUE(IsTrusted(renewed.next, made.next.authorities));
}

TEST(WebhookCertificates, ANewAuthorityIsKnownBeforeItSigns) {
  WebhookCertificates certificates = PlanAt(kInstalled, {}).next;
  base::Time now = kInstalled;
  const base::Time due = kInstalled + kWebhookAuthorityValidity - kRenewWebhookAuthorityBefore;
  std::string known = certificates.authorities;  // to the API servers
  int authorities_made = 0;
  bool was_beside = false;
  // At each renewal, with only the earlier authorities known: the serving certificate is accepted
  // all the same.
  while (now <= due + std::chrono::hours(24 * 365)) {
    const CertificatePlan plan = PlanAt(now, certificates);
    if (plan.next.authority_key != certificates.authority_key) {
      ++authorities_made;
      was_beside = net::SplitCertificates(plan.next.authorities).size() == 2;
      EXPECT_EQ(plan.next.serving.certificate, certificates.serving.certificate);
      EXPECT_EQ(plan.look_again, now + kAuthoritySpread);
    }
    EXPECT_TRUE(IsTrusted(plan.next, known)) << base::FormatRfc3339(now);
    certificates = plan.next;
    known = plan.next.authorities;
    ASSERT_GT(plan.look_again, now);
    now = plan.look_again;
  }
  EXPECT_EQ(authorities_made, 1);
  EXPECT_TRUE(was_beside);
}

TEST(WebhookCertificates, AnAuthorityThatHasEndedIsForgotten) {
  WebhookCertificates certificates = PlanAt(kInstalled, {}).next;
  base::Time now = kInstalled;
  while (now < kInstalled + kWebhookAuthorityValidity) {
    const CertificatePlan plan = PlanAt(now, certificates);
    certificates = plan.next;
    now = plan.look_again;
  }
  const CertificatePlan after =
      PlanAt(kInstalled + kWebhookAuthorityValidity + std::chrono::hours(1), certificates);
  EXPECT_EQ(net::SplitCertificates(after.next.authorities).size(), 1U);
  EXPECT_TRUE(IsTrusted(after.next, after.next.authorities));
}

TEST(WebhookCertificates, WhatIsSpoiltIsMadeAnew) {
  const WebhookCertificates good = PlanAt(kInstalled, {}).next;
  const WebhookCertificates other = PlanAt(kInstalled, {}).next;
  const auto expect_mended = [&](const WebhookCertificates& stored) {
    const CertificatePlan plan = PlanAt(kInstalled, stored);
    EXPECT_TRUE(IsTrusted(plan.next, plan.next.authorities));
    EXPECT_TRUE(net::IsKeyOf(plan.next.serving.key, plan.next.serving.certificate));
    EXPECT_TRUE(net::IsKeyOf(plan.next.authority_key,
                             net::SplitCertificates(plan.next.authorities).front()));
    EXPECT_EQ(PlanAt(kInstalled, plan.next).next, plan.next);
  };
  WebhookCertificates spoilt = good;
  spoilt.serving.key = other.serving.key;
  expect_mended(spoilt);
  spoilt = good;
  spoilt.authority_key = other.authority_key;
  expect_mended(spoilt);
  spoilt = good;
  spoilt.authorities = "nonsense";
  expect_mended(spoilt);
  spoilt = good;
  spoilt.serving = other.serving;
  expect_mended(spoilt);
  expect_mended({"-----BEGIN CERTIFICATE-----\nAA\n-----END CERTIFICATE-----", "x", {"y", "z"}});
}

TEST(WebhookCertificates, AnotherNameTakesAnotherCertificate) {
  const WebhookCertificates good = PlanAt(kInstalled, {}).next;
  const auto moved = PlanWebhookCertificates(good, {"operator.other.svc"}, kInstalled);
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->next.authorities, good.authorities);
  EXPECT_TRUE(net::IsForHost(moved->next.serving.certificate, "operator.other.svc"));
}

}  // namespace
}  // namespace controller
