#include "cluster/client.h"

#include <gtest/gtest.h>

#include "cluster/testing/fake_server.h"
#include "text/projection.h"

namespace cluster {
namespace {

struct ClientTest : testing::Test {
  text::Json Object(const char* text) { return *text::ParseJson(text); }

  FakeServer server;
  std::vector<std::string> warnings;
  Client client{server.Connect(), [this](std::string_view text) { warnings.emplace_back(text); }};
};

constexpr const char* kPod = R"({"metadata":{"name":"p","namespace":"team"}})";

TEST_F(ClientTest, GetsAnObject) {
  server.QueueJson(R"({"kind":"Pod","metadata":{"name":"a b"}})");
  const auto pod = client.Get(api::kPods, "team", "a b");
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_EQ(text::GetString(*pod, {"metadata", "name"}), "a b");
  EXPECT_EQ(server.Line(0), "GET /api/v1/namespaces/team/pods/a%20b");
  EXPECT_EQ(net::FindHeader(server.Request(0).headers, "Accept"), "application/json");

  server.QueueJson("{}");
  ASSERT_TRUE(client.Get(api::kPyTorchJobs, "team", "job"));
  EXPECT_EQ(server.Line(1), "GET /apis/kubeflow.org/v1/namespaces/team/pytorchjobs/job");
  server.QueueJson("{}");
  ASSERT_TRUE(client.Get(api::kNodes, "", "n"));
  EXPECT_EQ(server.Line(2), "GET /api/v1/nodes/n");
}

TEST_F(ClientTest, AsksNobodyWithoutANameOrNamespace) {
  for (const auto& [namespace_name, name] :
       {std::pair{"", "p"}, std::pair{"team", ""}, std::pair{"team", ".."}}) {
    const auto pod = client.Get(api::kPods, namespace_name, name);
    ASSERT_FALSE(pod);
    EXPECT_EQ(pod.error().code, base::Code::kInvalidArgument);
  }
  EXPECT_FALSE(client.Delete(api::kPods, "team", ""));
  EXPECT_FALSE(client.Create(api::kPods, "", Object("{}")));
}

TEST_F(ClientTest, AsksForAFormWhereItIsKnownAndTakesWholeObjectsElsewhere) {
  server.QueueJson(R"({"metadata":{},"items":[]})");
  ASSERT_TRUE(client.List(api::kPods, {.form = "Short"}));
  EXPECT_EQ(net::FindHeader(server.Request(0).headers, "Accept"),
            "application/json;as=Short;v=v1;g=muster.dev,application/json");
}

TEST_F(ClientTest, ListsWithSelectorsAndNamesEachKind) {
  server.QueueJson(R"({"kind":"PodList","metadata":{"resourceVersion":"7"},
      "items":[{"metadata":{"name":"a"},"spec":{}},{"kind":"Pod","apiVersion":"v1","x":1}]})");
  const auto list = client.List(api::kPods, {.namespace_name = "team",
                                             .label_selector = "a=b,c in (d)",
                                             .field_selector = "status.phase!=Failed",
                                             .resource_version = "0"});
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_EQ(list->resource_version, "7");
  ASSERT_EQ(list->items.size(), 2U);
  EXPECT_EQ(text::ToJson(list->items[0]),
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{}})");
  EXPECT_EQ(text::ToJson(list->items[1]), R"({"kind":"Pod","apiVersion":"v1","x":1})");
  EXPECT_EQ(server.Line(0),
            "GET /api/v1/namespaces/team/pods?labelSelector=a%3Db%2Cc%20in%20%28d%29"
            "&fieldSelector=status.phase%21%3DFailed&resourceVersion=0");
}

TEST_F(ClientTest, ReadsTheItemsOfAListAsItsCallerWants) {
  ListOptions options;
  options.read = [](std::string_view item) {
    return text::ParsePart(item, {{"metadata", "name"}});
  };
  server.QueueJson(R"({"kind":"PodList","items":[{"metadata":{"name":"a","x":1},"spec":{}}],)"
                   R"("metadata":{"resourceVersion":"7","continue":"on"}})");
  server.QueueJson(R"({"items":[{"spec":[]}],"metadata":{"resourceVersion":"7"}})");
  server.QueueJson(R"({"items":null,"metadata":{"resourceVersion":"8"}})");
  auto list = client.List(api::kPods, options);
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_EQ(list->resource_version, "7");
  ASSERT_EQ(list->items.size(), 2U);
  EXPECT_EQ(text::ToJson(list->items[0]),
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}})");
  EXPECT_EQ(text::ToJson(list->items[1]), R"({"apiVersion":"v1","kind":"Pod"})");

  list = client.List(api::kPods, options);
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_TRUE(list->items.empty());

  for (const char* garbage : {R"({"items":[{"metadata":}]})", R"({"items":[{}],"metadata":{x}})",
                              R"({"items":{}})", "<html>", R"({"items":[{})"}) {
    server.QueueJson(garbage);
    list = client.List(api::kPods, options);
    ASSERT_FALSE(list) << garbage;
  }
}

TEST_F(ClientTest, AListThatIsReadItemByItemMayComeInPiecesAndMustBeWhole) {
  const std::string page = R"({"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}],)"
                           R"("metadata":{"resourceVersion":"7"}})";
  ListOptions options;
  options.read = [](std::string_view item) { return text::ParseJson(item); };
  for (size_t cut = 1; cut < page.size(); ++cut) {
    server.Queue([&](const std::shared_ptr<net::Responder>& responder) {
      responder->Start(200, {});
      responder->Write(page.substr(0, cut));
      responder->Write(page.substr(cut));
      responder->Finish();
    });
    const auto list = client.List(api::kPods, options);
    ASSERT_TRUE(list) << cut << list.error().message;
    EXPECT_EQ(list->items.size(), 2U);
    EXPECT_EQ(list->resource_version, "7");
    // Broken off there, or ended as if it were whole.
    server.Queue([&](const std::shared_ptr<net::Responder>& responder) {
      responder->Start(200, {});
      responder->Write(page.substr(0, cut));
    });
    EXPECT_EQ(client.List(api::kPods, options).error().code, base::Code::kUnavailable) << cut;
    server.QueueWhole(page.substr(0, cut));
    EXPECT_EQ(client.List(api::kPods, options).error().code, base::Code::kInternal) << cut;
  }
  server.QueueJson(R"({"kind":"Status","message":"no","reason":"Forbidden","code":403})", 403);
  EXPECT_EQ(client.List(api::kPods, options).error().code, base::Code::kPermissionDenied);
}

TEST_F(ClientTest, ListsAllNamespacesAndTakesNullForNone) {
  server.QueueJson(R"({"metadata":{"resourceVersion":"7"},"items":null})");
  const auto list = client.List(api::kPods, {});
  ASSERT_TRUE(list);
  EXPECT_TRUE(list->items.empty());
  EXPECT_EQ(server.Line(0), "GET /api/v1/pods");
}

TEST_F(ClientTest, FollowsAListToItsLastPage) {
  server.QueueJson(R"({"metadata":{"continue":"x/y","resourceVersion":"7"},"items":[{"n":1}]})");
  server.QueueJson(R"({"metadata":{"continue":"","resourceVersion":"7"},"items":[{"n":2}]})");
  const auto list = client.List(api::kPods, {.resource_version = "5", .limit = 1});
  ASSERT_TRUE(list);
  EXPECT_EQ(list->items.size(), 2U);
  EXPECT_EQ(server.Line(0), "GET /api/v1/pods?limit=1&resourceVersion=5");
  EXPECT_EQ(server.Line(1), "GET /api/v1/pods?limit=1&continue=x%2Fy");
}

TEST_F(ClientTest, ListsAllAtOnceWhenThePagesExpire) {
  server.QueueJson(R"({"metadata":{"continue":"x","resourceVersion":"7"},"items":[{"n":1}]})");
  server.QueueJson(R"({"kind":"Status","reason":"Expired","message":"too old"})", 410);
  server.QueueJson(R"({"metadata":{"resourceVersion":"9"},"items":[{"n":1},{"n":2}]})");
  const auto list = client.List(api::kPods, {.limit = 1});
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_EQ(list->items.size(), 2U);
  EXPECT_EQ(list->resource_version, "9");
  EXPECT_EQ(server.Line(2), "GET /api/v1/pods");
}

TEST_F(ClientTest, GetsATable) {
  server.QueueJson(R"({"kind":"Table","metadata":{"resourceVersion":"7"},
      "columnDefinitions":[{"name":"Name","type":"string"},{"name":"IP","priority":1}],
      "rows":[{"cells":["a",null]},{"cells":["b"]}]})");
  const auto table = client.GetTable(api::kPods, {.namespace_name = "team"});
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_EQ(table->columns.size(), 2U);
  EXPECT_EQ(table->columns[1].name, "IP");
  EXPECT_EQ(table->columns[1].priority, 1);
  ASSERT_EQ(table->rows.size(), 2U);
  EXPECT_EQ(table->rows[0][0].as_string(), "a");
  EXPECT_TRUE(table->rows[1][1].is_null());
  EXPECT_EQ(table->resource_version, "7");
  EXPECT_EQ(net::FindHeader(server.Request(0).headers, "Accept"),
            "application/json;as=Table;v=v1;g=meta.k8s.io");
  EXPECT_EQ(server.Line(0), "GET /api/v1/namespaces/team/pods?includeObject=None");
}

TEST_F(ClientTest, PutsTheNamespaceBeforeARowOfAllNamespaces) {
  server.QueueJson(R"({"kind":"Table","columnDefinitions":[{"name":"Name"}],
      "rows":[{"cells":["a"],"object":{"metadata":{"namespace":"team"}}}]})");
  const auto table = client.GetTable(api::kPods, {});
  ASSERT_TRUE(table);
  EXPECT_EQ(table->columns[0].name, "Namespace");
  EXPECT_EQ(table->rows[0][0].as_string(), "team");
  EXPECT_EQ(table->rows[0][1].as_string(), "a");
}

TEST_F(ClientTest, ReportsAServerThatRendersNoTables) {
  server.QueueJson(R"({"kind":"PodList","items":[]})");
  const auto table = client.GetTable(api::kPods, {});
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().code, base::Code::kInternal);
}

TEST_F(ClientTest, Creates) {
  server.QueueJson(R"({"metadata":{"uid":"1"}})", 201);
  const auto made = client.Create(api::kPods, "team", Object(R"({"kind":"Pod"})"));
  ASSERT_TRUE(made);
  EXPECT_EQ(server.Line(0), "POST /api/v1/namespaces/team/pods");
  EXPECT_EQ(server.Request(0).body, R"({"kind":"Pod"})");
  EXPECT_EQ(net::FindHeader(server.Request(0).headers, "Content-Type"), "application/json");
  server.QueueJson("{}", 201);
  ASSERT_TRUE(client.Create(api::kPods, "", Object(kPod), true));
  EXPECT_EQ(server.Line(1), "POST /api/v1/namespaces/team/pods?dryRun=All");
}

TEST_F(ClientTest, UpdatesTheObjectAndItsStatus) {
  server.QueueJson("{}");
  ASSERT_TRUE(client.Update(api::kPods, Object(kPod)));
  EXPECT_EQ(server.Line(0), "PUT /api/v1/namespaces/team/pods/p");
  EXPECT_EQ(server.Request(0).body, kPod);
  server.QueueJson("{}");
  ASSERT_TRUE(client.UpdateStatus(api::kPods, Object(kPod)));
  EXPECT_EQ(server.Line(1), "PUT /api/v1/namespaces/team/pods/p/status");
}

TEST_F(ClientTest, PatchesInEachFormat) {
  const std::pair<PatchType, const char*> formats[] = {
      {PatchType::kMerge, "application/merge-patch+json"},
      {PatchType::kJson, "application/json-patch+json"},
      {PatchType::kStrategicMerge, "application/strategic-merge-patch+json"}};
  for (size_t i = 0; i < 3; ++i) {
    server.QueueJson("{}");
    ASSERT_TRUE(client.Patch(api::kPyTorchJobs, "team", "j", formats[i].first,
                             Object(R"({"a":null})"), "scale"));
    EXPECT_EQ(server.Line(i), "PATCH /apis/kubeflow.org/v1/namespaces/team/pytorchjobs/j/scale");
    EXPECT_EQ(server.Request(i).body, R"({"a":null})");
    EXPECT_EQ(net::FindHeader(server.Request(i).headers, "Content-Type"), formats[i].second);
  }
}

TEST_F(ClientTest, DeletesWithOptions) {
  server.QueueJson(R"({"kind":"Status","status":"Success"})");
  ASSERT_TRUE(client.Delete(api::kPods, "team", "p"));
  EXPECT_EQ(server.Line(0), "DELETE /api/v1/namespaces/team/pods/p");
  EXPECT_EQ(server.Request(0).body,
            R"({"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Background"})");
  server.QueueJson("{}");
  ASSERT_TRUE(client.Delete(
      api::kPods, "team", "p",
      {.uid = "u", .grace_period_seconds = 0, .propagation = Propagation::kForeground}));
  EXPECT_EQ(server.Request(1).body,
            R"({"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Foreground",)"
            R"("gracePeriodSeconds":0,"preconditions":{"uid":"u"}})");
}

TEST_F(ClientTest, BatchesWritesWithResultsInOrder) {
  using Verb = BatchWrite::Verb;
  server.QueueJson(R"({"n":1})", 201);
  server.QueueJson(R"({"kind":"Status","reason":"Conflict","message":"stale"})", 409);
  server.QueueJson(R"({"n":3})");
  server.QueueJson(R"({"n":4})");
  server.QueueJson(R"({"n":5})");
  const auto results = client.Batch({
      {.verb = Verb::kCreate, .resource = &api::kPods, .object = Object(kPod)},
      {.verb = Verb::kUpdate, .resource = &api::kPods, .object = Object(kPod)},
      {.verb = Verb::kUpdateStatus, .resource = &api::kPods, .object = Object("{}")},
      {.verb = Verb::kUpdateStatus, .resource = &api::kPods, .object = Object(kPod)},
      {.verb = Verb::kPatch,
       .resource = &api::kPods,
       .namespace_name = "team",
       .name = "p",
       .object = Object("{}")},
      {.verb = Verb::kDelete, .resource = &api::kPods, .namespace_name = "team", .name = "p"},
  });
  ASSERT_EQ(results.size(), 6U);
  EXPECT_EQ(text::ToJson(*results[0]), R"({"n":1})");
  EXPECT_EQ(results[1].error().code, base::Code::kConflict);
  EXPECT_EQ(results[2].error().code, base::Code::kInvalidArgument);
  EXPECT_EQ(text::ToJson(*results[3]), R"({"n":3})");
  EXPECT_EQ(text::ToJson(*results[5]), R"({"n":5})");
  EXPECT_EQ(server.Line(2), "PUT /api/v1/namespaces/team/pods/p/status");
  EXPECT_EQ(server.Line(3), "PATCH /api/v1/namespaces/team/pods/p");
}

TEST_F(ClientTest, OpensLogs) {
  server.QueueWhole("line\n");
  const auto log = client.Logs(
      "team", "p",
      {.container = "c", .follow = true, .tail_lines = 0, .since_seconds = 9, .limit_bytes = 10});
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_EQ((*log)->Read()->value(), "line\n");
  EXPECT_FALSE((*log)->Read()->has_value());
  EXPECT_EQ(server.Line(0),
            "GET /api/v1/namespaces/team/pods/p/log?container=c&follow=true&tailLines=0"
            "&sinceSeconds=9&limitBytes=10");
}

TEST_F(ClientTest, ReportsWhyAStreamDidNotOpen) {
  server.QueueJson(R"({"kind":"Status","reason":"NotFound","message":"pods \"p\" not found"})",
                   404);
  const auto log = client.Logs("team", "p", {});
  ASSERT_FALSE(log);
  EXPECT_EQ(log.error().code, base::Code::kNotFound);
  EXPECT_EQ(log.error().message, "pods \"p\" not found");
}

// Whether the server's URL is wrong, if it is not the definition that is missing.
TEST_F(ClientTest, AServerWithoutPyTorchJobsIsAskedForItsVersion) {
  server.QueueJson("404 page not found", 404);
  server.QueueJson(R"({"gitVersion":"v1.33.13"})");
  EXPECT_TRUE(client.Get(api::kPyTorchJobs, "team", "j")
                  .error()
                  .message.starts_with("the cluster knows no PyTorchJob"));
  EXPECT_EQ(server.Line(1), "GET /version");
  server.QueueJson("404 page not found", 404);
  server.QueueJson("404 page not found", 404);
  EXPECT_TRUE(client.Get(api::kPyTorchJobs, "team", "j")
                  .error()
                  .message.starts_with("the server knows no /version (HTTP 404)"));
  server.QueueJson("404 page not found", 404);
  server.QueueJson(R"({"message": "no route"})", 404);
  EXPECT_TRUE(client.Get(api::kPyTorchJobs, "team", "j")
                  .error()
                  .message.starts_with("the cluster knows no PyTorchJob"))
      << "a gateway";
}

TEST_F(ClientTest, SendsRaw) {
  server.QueueJson("any text");
  EXPECT_EQ(*client.Raw("GET", "/version"), "any text");
  EXPECT_EQ(server.Line(0), "GET /version");
  server.QueueJson("no", 503);
  EXPECT_EQ(client.Raw("POST", "/x", "body").error().code, base::Code::kUnavailable);
  EXPECT_EQ(server.Request(1).body, "body");
}

TEST_F(ClientTest, PassesWarningsOn) {
  server.Queue({200, {{"Warning", "299 - \"one\""}, {"warning", "299 - \"two\""}}, "{}"});
  ASSERT_TRUE(client.Get(api::kPods, "team", "p"));
  EXPECT_EQ(warnings, (std::vector<std::string>{"one", "two"}));
}

TEST_F(ClientTest, AppliesOnTheServersSide) {
  server.QueueJson(kPod);
  server.QueueJson(R"({"kind":"Status","reason":"Conflict","message":"conflict with \"x\""})", 409);
  ASSERT_TRUE(client.Apply(api::kPods, Object(kPod), "muster"));
  EXPECT_EQ(server.Line(0), "PATCH /api/v1/namespaces/team/pods/p?fieldManager=muster");
  EXPECT_EQ(net::FindHeader(server.Request(0).headers, "Content-Type"),
            "application/apply-patch+yaml");
  EXPECT_EQ(server.Request(0).body, kPod);
  EXPECT_EQ(client.Apply(api::kPods, Object(kPod), "m", true, true).error().code,
            base::Code::kConflict);
  EXPECT_EQ(server.Line(1),
            "PATCH /api/v1/namespaces/team/pods/p?fieldManager=m&force=true&dryRun=All");
}

TEST_F(ClientTest, ReportsAnAnswerThatIsNoJson) {
  server.QueueJson("{\"kind\": ");
  const auto pod = client.Get(api::kPods, "team", "p");
  ASSERT_FALSE(pod);
  EXPECT_EQ(pod.error().code, base::Code::kInternal);
  EXPECT_NE(pod.error().message.find("GET /api/v1/namespaces/team/pods/p"), std::string::npos);
}

}  // namespace
}  // namespace cluster
