#include <gtest/gtest.h>

#include <algorithm>

#include "local/server/testing/test_server.h"
#include "text/patch.h"

namespace local::server {
namespace {

constexpr const char* kConfigMapsPath = "/api/v1/namespaces/default/configmaps";
constexpr std::string_view kApplyPatch = "application/apply-patch+yaml";

text::Json MapWith(size_t bytes) {
  return text::Object{{"apiVersion", "v1"},
                      {"kind", "ConfigMap"},
                      {"metadata", text::Object{{"name", "m"}}},
                      {"data", text::Object{{"first", std::string(bytes, 'x')}}}};
}

text::Json MoreData(std::string_view key, size_t bytes) {
  return text::Object{{"data", text::Object{{key, std::string(bytes, 'y')}}}};
}

size_t StoredBytes(TestServer& server) {
  return text::ToJson(server.Expect(200, "GET", Path(kConfigMapsPath, "m"))).size();
}

TEST(WriteLimits, AJsonPatchBombIsRefused) {
  TestServer server;
  server.Expect(201, "POST", kConfigMapsPath, MapWith(1'000));
  text::Array bomb;
  for (int i = 0; i < 20; ++i) {
    bomb.push_back(
        text::Object{{"op", "copy"}, {"from", "/data"}, {"path", "/data/k" + std::to_string(i)}});
  }
  const text::Json refused =
      server.Patch(422, Path(kConfigMapsPath, "m"), bomb, "application/json-patch+json");
  EXPECT_NE(text::GetString(refused, {"message"}).find("makes more than 3145728 bytes"),
            std::string::npos);
}

TEST(WriteLimits, NoKindOfWriteMakesAnObjectTooLarge) {
  TestServer server;
  constexpr size_t kMost = text::kMaxPatchedBytes;
  server.Expect(422, "POST", kConfigMapsPath, MapWith(kMost + 1));
  server.Expect(201, "POST", kConfigMapsPath, MapWith(kMost / 2));
  server.Expect(422, "PUT", Path(kConfigMapsPath, "m"), MapWith(kMost + 1));
  for (const char* type :
       {"application/merge-patch+json", "application/strategic-merge-patch+json"}) {
    server.Patch(422, Path(kConfigMapsPath, "m"), MoreData("second", kMost / 2 + 1), type);
  }
  text::Json applied = MoreData("second", kMost / 2 + 1);
  text::Set(applied, {"apiVersion"}, "v1");
  text::Set(applied, {"kind"}, "ConfigMap");
  server.Patch(422, Path(kConfigMapsPath, "m?fieldManager=t"), applied, std::string(kApplyPatch));
  EXPECT_LT(StoredBytes(server), kMost);
  server.Patch(200, Path(kConfigMapsPath, "m"), MoreData("second", 1'000));
}

// kubectl's apply says with each changed list in which order it is to be.
TEST(WriteLimits, AThousandVariablesMayBeChangedAtOnce) {
  TestServer server;
  constexpr const char* deployments = "/apis/apps/v1/namespaces/default/deployments";
  const auto variables = [](std::string_view value) {
    text::Array made;
    for (int i = 0; i < 1'000; ++i) {
      made.push_back(text::Object{{"name", "V" + std::to_string(i)}, {"value", value}});
    }
    return made;
  };
  const auto spec_with = [](text::Object container) {
    container["name"] = "c";
    return text::Object{
        {"template",
         text::Object{{"spec", text::Object{{"containers", text::Array{std::move(container)}}}}}}};
  };
  text::Json deployment =
      text::Object{{"metadata", text::Object{{"name", "d"}}},
                   {"spec", spec_with(text::Object{{"image", "i"}, {"env", variables("1")}})}};
  text::Set(deployment, {"spec", "selector", "matchLabels", "a"}, "b");
  text::Set(deployment, {"spec", "template", "metadata", "labels", "a"}, "b");
  server.Expect(201, "POST", deployments, deployment);
  text::Array order = variables("2");
  std::reverse(order.begin(), order.end());
  const text::Json changed = server.Patch(
      200, Path(deployments, "d"),
      text::Object{{"spec", spec_with(text::Object{{"env", variables("2")},
                                                   {"$setElementOrder/env", std::move(order)}})}},
      "application/strategic-merge-patch+json");
  const text::Json& container = text::Items(changed, {"spec", "template", "spec", "containers"})[0];
  EXPECT_EQ(text::Items(container, {"env"})[0], text::Json({{"name", "V999"}, {"value", "2"}}));
}

// Each element is compared with each, on the thread that all writes share.
TEST(WriteLimits, AMergeOfEndlessListsIsRefused) {
  TestServer server;
  text::Json pod = PodObject("p");
  text::Array finalizers;
  for (int i = 0; i < 20'000; ++i) finalizers.push_back(text::Json("a/" + std::to_string(i)));
  text::Set(pod, {"metadata", "finalizers"}, finalizers);
  server.Expect(201, "POST", kPodsPath, pod);
  const text::Json patch =
      text::Object{{"metadata", text::Object{{"finalizers", std::move(finalizers)}}}};
  const text::Json refused =
      server.Patch(422, Path(kPodsPath, "p"), patch, "application/strategic-merge-patch+json");
  EXPECT_NE(text::GetString(refused, {"message"}).find("lists are too long"), std::string::npos);
}

}  // namespace
}  // namespace local::server
