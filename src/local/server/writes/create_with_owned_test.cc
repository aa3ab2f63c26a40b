#include <gtest/gtest.h>

#include "local/server/testing/test_server.h"

namespace local::server {
namespace {

using text::GetString;

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";
const std::string kTarget = std::string(kJobsPath) + "?withOwned=true";

text::Json MapObject(const std::string& name) {
  return text::Object{{"apiVersion", "v1"},
                      {"kind", "ConfigMap"},
                      {"metadata", text::Object{{"name", name}}},
                      {"data", text::Object{{"a", "b"}}}};
}

text::Json ListOf(text::Array items) {
  return text::Object{{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}};
}

text::Json Family() {
  return ListOf({JobObject("job"), MapObject("one"), MapObject("two"), PodObject("pod")});
}

size_t Count(TestServer& server) {
  size_t count = 0;
  for (const char* const path : {kJobsPath, kMaps, kPodsPath}) {
    count += text::FindArray(server.Expect(200, "GET", path), {"items"})->size();
  }
  return count;
}

TEST(CreateWithOwned, MakesAllInOneCommitAndTheFirstOwnsTheRest) {
  TestServer server;
  const text::Json job = server.Expect(201, "POST", kTarget, Family());
  EXPECT_EQ(job, server.Expect(200, "GET", Path(kJobsPath, "job")));
  for (const std::string& path : {Path(kMaps, "one"), Path(kMaps, "two"), Path(kPodsPath, "pod")}) {
    const text::Json owned = server.Expect(200, "GET", path);
    EXPECT_EQ(text::FindArray(owned, {"metadata", "ownerReferences"})->front(),
              OwnerReference(job));
  }
  server.Restart();
  EXPECT_EQ(Count(server), 4u);
  server.Expect(200, "DELETE", Path(kJobsPath, "job"));
  EXPECT_EQ(Count(server), 0u);
}

TEST(CreateWithOwned, MakesNothingWhenOneIsRefused) {
  TestServer server;
  text::Json bad_pod = PodObject("pod");
  text::Erase(bad_pod, {"spec", "containers"});
  text::Json elsewhere = MapObject("one");
  text::Set(elsewhere, {"metadata", "namespace"}, "kube-system");
  text::Json node = MapObject("one");
  text::Set(node, {"kind"}, "Node");
  const std::tuple<text::Json, int, const char*> cases[] = {
      {ListOf({JobObject("job"), MapObject("one"), MapObject("one")}), 409,
       "configmaps \"one\" already exists"},
      {ListOf({JobObject("job"), MapObject("one"), bad_pod}), 422, "spec.containers"},
      {ListOf({JobObject("job"), elsewhere}), 400, "does not match the namespace"},
      {ListOf({JobObject("job"), node}), 400, "Node in version \"v1\" cannot be owned"},
      {ListOf({JobObject("job"), MapObject("A b")}), 422, "metadata.name"},
      {ListOf({MapObject("one")}), 400, "cannot be handled as a PyTorchJob"},
      {ListOf({}), 400, "a List of 1 to"},
      {JobObject("job"), 400, "a List of 1 to"}};
  for (const auto& [body, status, why] : cases) {
    const text::Json refused = server.Expect(status, "POST", kTarget, body);
    EXPECT_NE(GetString(refused, {"message"}).find(why), std::string_view::npos)
        << text::ToJson(refused);
    EXPECT_EQ(Count(server), 0u) << why;
  }
}

TEST(CreateWithOwned, ANameThatIsTakenLeavesEverythingAsItIs) {
  TestServer server;
  const text::Json standing = server.Expect(201, "POST", kMaps, MapObject("two"));
  const text::Json refused = server.Expect(409, "POST", kTarget, Family());
  EXPECT_EQ(GetString(refused, {"reason"}), "AlreadyExists");
  EXPECT_EQ(GetString(refused, {"details", "name"}), "two");
  EXPECT_EQ(Count(server), 1u);
  EXPECT_EQ(server.Expect(200, "GET", Path(kMaps, "two")), standing);
  server.Expect(200, "DELETE", Path(kMaps, "two"));
  server.Expect(201, "POST", kTarget, Family());
  EXPECT_EQ(GetString(server.Expect(409, "POST", kTarget, Family()), {"message"}),
            "pytorchjobs.kubeflow.org \"job\" already exists");
  EXPECT_EQ(Count(server), 4u);
}

TEST(CreateWithOwned, ADryRunChangesNothing) {
  TestServer server;
  const text::Json job = server.Expect(201, "POST", kTarget + "&dryRun=All", Family());
  EXPECT_EQ(GetString(job, {"metadata", "name"}), "job");
  EXPECT_EQ(Count(server), 0u);
}

TEST(CreateWithOwned, WarnsOfFieldsOfEachObject) {
  TestServer server;
  text::Json job = JobObject("job");
  text::Set(job, {"spec", "colour"}, "red");
  text::Json map = MapObject("one");
  text::Set(map, {"dataa"}, text::Object{});
  const auto made = server.Send("POST", kTarget, text::ToJson(ListOf({job, map})));
  EXPECT_EQ(made.status, 201);
  std::string warnings;
  for (const auto& [name, value] : made.headers) warnings += name == "Warning" ? value : "";
  EXPECT_NE(warnings.find("spec.colour"), std::string::npos) << warnings;
  EXPECT_NE(warnings.find("dataa"), std::string::npos) << warnings;
  const text::Json refused = server.Expect(400, "POST", kTarget + "&fieldValidation=Strict",
                                           ListOf({JobObject("b"), map}));
  EXPECT_NE(GetString(refused, {"message"}).find("dataa"), std::string_view::npos);
  EXPECT_EQ(Count(server), 2u);
}

}  // namespace
}  // namespace local::server
