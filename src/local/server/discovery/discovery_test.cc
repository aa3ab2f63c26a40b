#include "local/server/discovery/discovery.h"

#include <gtest/gtest.h>

#include "local/server/testing/test_server.h"

namespace local::server {
namespace {

const net::Headers kAggregated = {
    {"Accept",
     "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
     "application/json"}};

TEST(Discovery, ReportsEverythingInTwoAnswers) {
  TestServer server;
  const auto response = server.Send("GET", "/apis", "", kAggregated);
  EXPECT_EQ(net::FindHeader(response.headers, "Content-Type"),
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  const auto list = text::ParseJson(response.body);
  ASSERT_TRUE(list);
  const text::Json* kubeflow = nullptr;
  for (const text::Json& group : *text::FindArray(*list, {"items"})) {
    if (text::GetString(group, {"metadata", "name"}) == "kubeflow.org") kubeflow = &group;
  }
  ASSERT_NE(kubeflow, nullptr);
  const text::Json& version = text::FindArray(*kubeflow, {"versions"})->front();
  const text::Json& job = text::FindArray(version, {"resources"})->front();
  EXPECT_EQ(text::GetString(job, {"resource"}), "pytorchjobs");
  EXPECT_EQ(text::GetString(job, {"scope"}), "Namespaced");
  const text::Array& below = *text::FindArray(job, {"subresources"});
  ASSERT_EQ(below.size(), 2U);
  EXPECT_EQ(text::GetString(below[1], {"responseKind", "group"}), "autoscaling");

  const text::Json core = server.Expect(200, "GET", "/api", nullptr, kAggregated);
  EXPECT_EQ(text::FindArray(core, {"items"})->size(), 1U);
}

TEST(Discovery, EveryGroupLeadsToItsResources) {
  TestServer server;
  const text::Json groups = server.Expect(200, "GET", "/apis");
  for (const text::Json& group : *text::FindArray(groups, {"groups"})) {
    for (const text::Json& version : *text::FindArray(group, {"versions"})) {
      const text::Json list = server.Expect(
          200, "GET", "/apis/" + std::string(text::GetString(version, {"groupVersion"})));
      EXPECT_FALSE(text::FindArray(list, {"resources"})->empty());
    }
  }
}

TEST(Reviews, OwnerMayDoEverything) {
  ApiServer::Options options;
  options.user = "tina";
  TestServer server(std::move(options));
  const text::Json access = server.Expect(
      201, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
      text::Object{{"spec", text::Object{{"resourceAttributes", text::Object{{"verb", "get"}}}}}});
  EXPECT_EQ(text::GetBool(access, {"status", "allowed"}), true);
  EXPECT_EQ(text::GetString(access, {"spec", "resourceAttributes", "verb"}), "get");
  const text::Json self =
      server.Expect(201, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                    text::Object{{"kind", "SelfSubjectReview"}});
  EXPECT_EQ(text::GetString(self, {"status", "userInfo", "username"}), "tina");
  const text::Json rules =
      server.Expect(201, "POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
                    text::Object{{"spec", text::Object{{"namespace", "default"}}}});
  EXPECT_EQ(text::FindArray(rules, {"status", "resourceRules"})->size(), 1U);
  server.Expect(405, "GET", "/apis/authentication.k8s.io/v1/selfsubjectreviews");
}

// Every reference in a document is valid.
void ExpectReferences(const text::Json& value, std::string_view prefix,
                      const text::Object& schemas) {
  if (const text::Object* object = value.if_object()) {
    for (const auto& [key, item] : *object) {
      if (std::string_view(key) == "$ref") {
        const std::string_view to = item.get_string();
        ASSERT_TRUE(to.starts_with(prefix)) << to;
        EXPECT_TRUE(schemas.contains(to.substr(prefix.size()))) << to;
      }
      ExpectReferences(item, prefix, schemas);
    }
  } else if (const text::Array* array = value.if_array()) {
    for (const text::Json& item : *array) ExpectReferences(item, prefix, schemas);
  }
}

TEST(OpenApi, EveryReferenceLeadsToASchema) {
  TestServer server;
  const text::Json root = server.Expect(200, "GET", "/openapi/v3");
  for (const auto& [path, place] : *text::FindObject(root, {"paths"})) {
    const text::Json document =
        server.Expect(200, "GET", std::string(text::GetString(place, {"serverRelativeURL"})));
    ExpectReferences(document, "#/components/schemas/",
                     *text::FindObject(document, {"components", "schemas"}));
  }
  const text::Json second = server.Expect(200, "GET", "/openapi/v2");
  ExpectReferences(second, "#/definitions/", *text::FindObject(second, {"definitions"}));
}

TEST(OpenApi, ListsSayHowTheyMerge) {
  TestServer server;
  const text::Json core = server.Expect(200, "GET", "/openapi/v3/api/v1");
  const text::Json* ports =
      text::Find(core, {"components", "schemas", "muster.v1.Container", "properties", "ports"});
  ASSERT_NE(ports, nullptr);
  EXPECT_EQ(text::GetString(*ports, {"x-kubernetes-list-type"}), "map");
  EXPECT_EQ(text::ToJson(*text::Find(*ports, {"x-kubernetes-list-map-keys"})),
            R"(["containerPort","protocol"])");
}

}  // namespace
}  // namespace local::server
