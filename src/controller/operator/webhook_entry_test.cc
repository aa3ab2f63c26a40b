#include "controller/operator/webhook_entry.h"

#include <gtest/gtest.h>

namespace controller {
namespace {

text::Json Configuration(std::string_view name, text::Array webhooks) {
  return text::Object{
      {"metadata", text::Object{{"labels", text::Object{{"app.kubernetes.io/name", name}}}}},
      {"webhooks", std::move(webhooks)}};
}

TEST(WebhookEntry, IsAwaitedByOurOwnEmptyConfigurationOnly) {
  EXPECT_TRUE(AwaitsEntry(Configuration("muster-operator", {})));
  EXPECT_TRUE(AwaitsEntry(Configuration("muster-operator", {text::Object{{"name", "other"}}})));
  EXPECT_FALSE(
      AwaitsEntry(Configuration("muster-operator", {text::Object{{"name", kWebhookName}}})));
  // Kubeflow's, from which `muster install --replace` took the entry.
  EXPECT_FALSE(AwaitsEntry(Configuration("training-operator", {})));
  EXPECT_FALSE(AwaitsEntry(text::Object()));
}

TEST(WebhookEntry, SaysWhereTheOperatorIsAsked) {
  WebhookOptions options;
  options.namespace_name = "place";
  options.service_name = "muster-operator";
  const auto entry_of = [&] {
    return text::FindArray(EntryPatch(options, "Y2E="), {"webhooks"})->front();
  };
  EXPECT_EQ(text::GetString(entry_of(), {"clientConfig", "service", "namespace"}), "place");
  EXPECT_EQ(text::GetString(entry_of(), {"clientConfig", "service", "name"}), "muster-operator");
  EXPECT_EQ(text::GetString(entry_of(), {"clientConfig", "caBundle"}), "Y2E=");
  EXPECT_EQ(text::GetString(entry_of(), {"failurePolicy"}), "Fail");
  options.failure_policy = "Ignore";
  EXPECT_EQ(text::GetString(entry_of(), {"failurePolicy"}), "Ignore");
}

TEST(WebhookEntry, IsRepairedWhereItDiffers) {
  const text::Json entry = text::Object{{"name", kWebhookName},
                                        {"clientConfig", text::Object{{"caBundle", "Y2E="}}},
                                        {"failurePolicy", "Fail"}};
  WebhookOptions options;
  EXPECT_TRUE(RepairOfEntry(entry, 0, options, "Y2E=").empty());
  EXPECT_EQ(text::ToJson(RepairOfEntry(entry, 2, options, "bmV3")),
            R"([{"op":"test","path":"/webhooks/2/name",)"
            R"("value":"validator.pytorchjob.training-operator.kubeflow.org"},)"
            R"({"op":"add","path":"/webhooks/2/clientConfig/caBundle","value":"bmV3"}])");
  // Without the flag it is kept: somebody set it for a reason.
  options.failure_policy = "Fail";
  EXPECT_TRUE(RepairOfEntry(entry, 0, options, "Y2E=").empty());
  options.failure_policy = "Ignore";
  EXPECT_EQ(text::ToJson(RepairOfEntry(entry, 0, options, "Y2E=")),
            R"([{"op":"test","path":"/webhooks/0/name",)"
            R"("value":"validator.pytorchjob.training-operator.kubeflow.org"},)"
            R"({"op":"add","path":"/webhooks/0/failurePolicy","value":"Ignore"}])");
}

}  // namespace
}  // namespace controller
