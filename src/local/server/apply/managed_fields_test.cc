#include "local/server/apply/managed_fields.h"

#include <gtest/gtest.h>

#include "local/server/apply/field_merge.h"
#include "local/server/apply/field_set.h"
#include "local/server/testing/test_server.h"

namespace local::server {
namespace {

const net::Headers kApplyType = {{"Content-Type", "application/apply-patch+yaml"}};

text::Json ConfigMap(const text::Object& data) {
  return text::Object{{"apiVersion", "v1"},
                      {"kind", "ConfigMap"},
                      {"metadata", text::Object{{"name", "c"}, {"namespace", "default"}}},
                      {"data", data}};
}

class ServerSideApply : public ::testing::Test {
 protected:
  text::Json Apply(int status, const std::string& manager, const text::Object& data,
                   std::string_view more = "") {
    return server_.Expect(
        status, "PATCH",
        "/api/v1/namespaces/default/configmaps/c?fieldManager=" + manager + std::string(more),
        ConfigMap(data), kApplyType);
  }
  static std::vector<std::string> Fields(const text::Json& object, std::string_view manager) {
    for (const text::Json& entry : *text::FindArray(object, {"metadata", "managedFields"})) {
      if (text::GetString(entry, {"manager"}) == manager) {
        return FieldSet::FromJson(*text::Find(entry, {"fieldsV1"})).Paths();
      }
    }
    return {};
  }

  TestServer server_;
};

using Paths = std::vector<std::string>;

TEST_F(ServerSideApply, CreatesThenRemovesWhatIsAppliedNoLonger) {
  const text::Json made = Apply(201, "one", {{"a", "1"}, {"b", "1"}});
  EXPECT_EQ(Fields(made, "one"), (Paths{".data.a", ".data.b"}));
  const text::Json changed = Apply(200, "one", {{"a", "1"}});
  EXPECT_EQ(*text::Find(changed, {"data"}), (text::Json(text::Object{{"a", "1"}})));
  EXPECT_EQ(Fields(changed, "one"), (Paths{".data.a"}));
}

TEST_F(ServerSideApply, KeepsWhatAnotherOwns) {
  Apply(201, "one", {{"a", "1"}, {"b", "1"}});
  Apply(200, "two", {{"a", "1"}});
  const text::Json changed = Apply(200, "one", {{"b", "1"}});
  EXPECT_EQ(text::GetString(changed, {"data", "a"}), "1");
}

TEST_F(ServerSideApply, AnswersConflictsByManagerAndField) {
  Apply(201, "one", {{"a", "1"}, {"b", "1"}});
  const text::Json refused = Apply(409, "two", {{"a", "2"}});
  EXPECT_EQ(text::GetString(refused, {"message"}),
            "Apply failed with 1 conflict: conflict with \"one\": .data.a");
  const text::Json both = Apply(409, "two", {{"a", "2"}, {"b", "2"}});
  EXPECT_EQ(text::GetString(both, {"message"}),
            "Apply failed with 2 conflicts: conflicts with \"one\":\n- .data.a\n- .data.b");
  EXPECT_EQ(text::FindArray(both, {"details", "causes"})->size(), 2U);
}

TEST_F(ServerSideApply, ForceTakesTheFields) {
  Apply(201, "one", {{"a", "1"}, {"b", "1"}});
  const text::Json forced = Apply(200, "two", {{"a", "2"}}, "&force=true");
  EXPECT_EQ(text::GetString(forced, {"data", "a"}), "2");
  EXPECT_EQ(Fields(forced, "one"), (Paths{".data.b"}));
  EXPECT_EQ(Fields(forced, "two"), (Paths{".data.a"}));
}

TEST_F(ServerSideApply, SameConfigurationAgainChangesNothing) {
  const text::Json made = Apply(201, "one", {{"a", "1"}});
  server_.clock.Advance(std::chrono::minutes(5));
  EXPECT_EQ(Apply(200, "one", {{"a", "1"}}), made);
}

TEST_F(ServerSideApply, NamesUpdatersInConflicts) {
  Apply(201, "one", {{"a", "1"}});
  server_.Expect(200, "PATCH", "/api/v1/namespaces/default/configmaps/c?fieldManager=hand",
                 text::Object{{"data", text::Object{{"a", "3"}}}},
                 {{"Content-Type", "application/merge-patch+json"}});
  EXPECT_EQ(text::GetString(Apply(409, "one", {{"a", "1"}}), {"message"}),
            "Apply failed with 1 conflict: conflict with \"hand\" using v1: .data.a");
}

TEST_F(ServerSideApply, NeedsAManager) {
  const text::Json refused = server_.Expect(422, "PATCH", "/api/v1/namespaces/default/configmaps/c",
                                            ConfigMap({{"a", "1"}}), kApplyType);
  EXPECT_EQ(text::GetString(refused, {"message"}),
            "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required "
            "for apply patch");
}

TEST_F(ServerSideApply, MergesContainersByName) {
  const auto apply = [&](int status, const std::string& manager, text::Object container) {
    text::Json job = JobObject("j");
    text::Set(
        job, {"spec", "pytorchReplicaSpecs"},
        text::Object{
            {"Master",
             text::Object{
                 {"replicas", 1},
                 {"template",
                  text::Object{{"spec", text::Object{{"containers", text::Array{container}}}}}}}}});
    return server_.Expect(status, "PATCH", Path(kJobsPath, "j?fieldManager=" + manager), job,
                          kApplyType);
  };
  apply(201, "one", {{"name", "pytorch"}, {"image", "i"}});
  const text::Json both = apply(200, "two", {{"name", "side"}, {"image", "s"}});
  const text::Array& containers = *text::FindArray(
      both, {"spec", "pytorchReplicaSpecs", "Master", "template", "spec", "containers"});
  ASSERT_EQ(containers.size(), 2U);
  EXPECT_EQ(text::GetString(containers[1], {"name"}), "side");
  const text::Json refused = apply(409, "two", {{"name", "pytorch"}, {"image", "other"}});
  EXPECT_EQ(text::GetString(refused, {"message"}),
            "Apply failed with 1 conflict: conflict with \"one\": .spec.pytorchReplicaSpecs.Master."
            "template.spec.containers[name=\"pytorch\"].image");
}

// `kubectl diff --server-side` of what `kubectl apply` wrote has no conflicts with itself.
TEST_F(ServerSideApply, KubectlTakesWhatItsClientSideApplyWrote) {
  constexpr std::string_view kLast = "kubectl.kubernetes.io/last-applied-configuration";
  text::Json map = ConfigMap({{"a", "1"}});
  text::Set(map, {"metadata", "annotations", kLast}, text::Json(text::ToJson(map)));
  const std::string path = "/api/v1/namespaces/default/configmaps";
  server_.Expect(201, "POST", path + "?fieldManager=kubectl-client-side-apply", map);
  Apply(409, "other", {{"a", "2"}});
  const text::Json changed = Apply(200, "kubectl", {{"a", "2"}, {"b", "1"}});
  EXPECT_EQ(text::GetString(changed, {"data", "a"}), "2");
  EXPECT_EQ(*text::ParseJson(text::GetString(changed, {"metadata", "annotations", kLast})),
            ConfigMap({{"a", "2"}, {"b", "1"}}));
  server_.Expect(200, "PATCH", path + "/c?fieldManager=hand",
                 text::Object{{"data", text::Object{{"c", "1"}}}},
                 {{"Content-Type", "application/merge-patch+json"}});
  Apply(409, "kubectl", {{"a", "2"}, {"c", "2"}});
}

TEST_F(ServerSideApply, RecordsStatusApart) {
  server_.Expect(201, "POST", kJobsPath, JobObject("j"), {{"User-Agent", "tester/1.0"}});
  const text::Json patched = server_.Expect(
      200, "PATCH", Path(kJobsPath, "j/status"),
      text::Object{{"status", text::Object{{"startTime", "2026-01-01T00:00:00Z"}}}},
      {{"Content-Type", "application/merge-patch+json"}, {"User-Agent", "kubelet/1.0"}});
  EXPECT_EQ(Fields(patched, "kubelet"), (Paths{".status", ".status.startTime"}));
  const text::Array& entries = *text::FindArray(patched, {"metadata", "managedFields"});
  EXPECT_EQ(text::GetString(entries[0], {"subresource"}), "status");
}

TEST_F(ServerSideApply, MustersOwnWritesAreNotRecorded) {
  const text::Json made =
      server_.Expect(201, "POST", kJobsPath, JobObject("j"), {{"User-Agent", "muster/0.1.0"}});
  EXPECT_EQ(text::Find(made, {"metadata", "managedFields"}), nullptr);
}

TEST_F(ServerSideApply, OldUpdatersAreFolded) {
  Apply(201, "one", {{"a", "1"}});
  text::Json last;
  for (int i = 0; i < 15; ++i) {
    server_.clock.Advance(std::chrono::seconds(1));
    last = server_.Expect(
        200, "PATCH", "/api/v1/namespaces/default/configmaps/c?fieldManager=m" + std::to_string(i),
        text::Object{{"data", text::Object{{"k" + std::to_string(i), "1"}}}},
        {{"Content-Type", "application/merge-patch+json"}});
  }
  EXPECT_EQ(text::FindArray(last, {"metadata", "managedFields"})->size(), kMaxUpdateManagers + 1);
  EXPECT_EQ(Fields(last, "ancient-changes").size(), 6U);
}

TEST_F(ServerSideApply, ClientsMayReplaceManagedFields) {
  const text::Json made = Apply(201, "one", {{"a", "1"}});
  text::Json reset = made;
  text::Set(reset, {"metadata", "managedFields"}, text::Array{text::Object{}});
  const text::Json put =
      server_.Expect(200, "PUT", "/api/v1/namespaces/default/configmaps/c?fieldManager=x", reset);
  EXPECT_EQ(text::Find(put, {"metadata", "managedFields"}), nullptr);
  // The next apply conflicts with the fields' unknown owner.
  const text::Json refused = Apply(409, "one", {{"a", "2"}});
  EXPECT_NE(text::GetString(refused, {"message"}).find("before-first-apply"), std::string::npos);
}

TEST(FieldSet, SurvivesItsJson) {
  const auto json = text::ParseJson(
      R"({"f:a":{".":{},"k:{\"name\":\"x\"}":{".":{},"f:b":{}},"v:\"q\"":{}},"f:c":{}})");
  EXPECT_EQ(FieldSet::FromJson(*json).ToJson(), *json);
  EXPECT_EQ(FieldSet::FromJson(*json).Paths(),
            (Paths{".a", ".c", ".a[name=\"x\"]", ".a[=\"q\"]", ".a[name=\"x\"].b"}));
}

TEST(FieldMerge, KeepsTheOrderOfBothLists) {
  api::Shape list;
  list.kind = api::Shape::Kind::kList;
  list.keys = {"name"};
  const auto items = [](std::initializer_list<const char*> names) {
    text::Array out;
    for (const char* name : names) out.push_back(text::Object{{"name", name}});
    return text::Json(out);
  };
  EXPECT_EQ(Merged(items({"a", "b", "c"}), items({"c", "d"}), list), items({"a", "b", "c", "d"}));
  EXPECT_EQ(Merged(items({"a", "b"}), items({"b", "a"}), list), items({"b", "a"}));
  EXPECT_EQ(Merged(items({}), items({"b"}), list), items({"b"}));
}

TEST(FieldMerge, RefusesTwoItemsWithOneKey) {
  TestServer server;
  text::Json pod = PodObject("p");
  text::Array& containers = text::Find(pod, {"spec", "containers"})->get_array();
  containers.push_back(text::Json(containers.front()));
  const text::Json refused =
      server.Expect(500, "PATCH", Path(kPodsPath, "p?fieldManager=x"), pod, kApplyType);
  EXPECT_NE(text::GetString(refused, {"message"})
                .find(".spec.containers: duplicate entries for key {\"name\":\"pytorch\"}"),
            std::string::npos)
      << text::ToJson(refused);
}

}  // namespace
}  // namespace local::server
