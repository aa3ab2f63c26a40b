#include "local/server/kinds/tables.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>

#include "local/server/testing/test_server.h"

namespace local::server {
namespace {

using text::GetInt;
using text::GetString;

// The columns up to that priority: "a | b | c".
std::string Header(const text::Json& table, int priority) {
  std::string header;
  for (const text::Json& column : *text::FindArray(table, {"columnDefinitions"})) {
    if (GetInt(column, {"priority"}) > priority) continue;
    if (!header.empty()) header += " | ";
    header += GetString(column, {"name"});
  }
  return header;
}

std::string Row(const text::Json& table, size_t row, int priority) {
  std::string cells;
  const text::Array& columns = *text::FindArray(table, {"columnDefinitions"});
  const text::Array& values =
      *text::FindArray(text::FindArray(table, {"rows"})->at(row), {"cells"});
  EXPECT_EQ(values.size(), columns.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (GetInt(columns[i], {"priority"}) > priority) continue;
    if (!cells.empty()) cells += " | ";
    cells += values[i].is_string() ? std::string(values[i].get_string()) : text::ToJson(values[i]);
  }
  return cells;
}

text::Json Status(const char* json) { return text::Object{{"status", *text::ParseJson(json)}}; }

TEST(Table, ShowsPodsAsKubectlDoes) {
  TestServer server;
  server.Expect(201, "POST", kPodsPath, PodObject("a"));
  server.Expect(201, "POST", kPodsPath, PodObject("b"));
  server.Expect(201, "POST", kPodsPath + std::string("/a/binding"),
                *text::ParseJson(R"({"target":{"name":"here"}})"));
  server.Patch(200, kPodsPath + std::string("/a/status"),
               Status(R"({"phase":"Running","podIP":"127.0.0.1","containerStatuses":[
                 {"name":"pytorch","ready":true,"restartCount":2,"state":{"running":{}},
                  "lastState":{"terminated":{"exitCode":1,"finishedAt":"2026-07-30T10:00:00Z"}}}]})"));
  server.clock.Advance(std::chrono::seconds(90));
  const text::Json table = server.Table(kPodsPath);
  EXPECT_EQ(GetString(table, {"kind"}), "Table");
  EXPECT_EQ(Header(table, 0), "Name | Ready | Status | Restarts | Age");
  EXPECT_EQ(Row(table, 0, 1),
            "a | 1/1 | Running | 2 (1m ago) | 1m | 127.0.0.1 | here | <none> | <none>");
  EXPECT_EQ(Row(table, 1, 0), "b | 0/1 | Pending | 0 | 1m");
  const text::Json& object = *text::Find(text::FindArray(table, {"rows"})->front(), {"object"});
  EXPECT_EQ(GetString(object, {"kind"}), "PartialObjectMetadata");
  EXPECT_EQ(GetString(object, {"metadata", "name"}), "a");
}

TEST(Table, ShowsJobsWithAndWithoutTheirPods) {
  TestServer server;
  text::Json job = JobObject("j");
  text::Set(job, {"metadata", "labels", "app"}, "pytorchjob");
  const text::Json made = server.Expect(201, "POST", kJobsPath, job);
  text::Json table = server.Table(kJobsPath);
  EXPECT_EQ(Header(table, 0), "Name | State | Age");
  EXPECT_EQ(Header(table, 1),
            "Name | State | Age | Status | Trainer | Duration | GPU(Requested) | GPU(Allocated) | "
            "Node | Created | Stall");
  EXPECT_EQ(
      Row(table, 0, 1),
      "j | null | 0s | PENDING | PYTORCHJOB | 0s | 0 | 0 | N/A | 2026-07-30T10:00:00.000000Z | ");

  text::Json pod = PodObject("j-master-0");
  text::Set(pod, {"metadata", "labels"}, *text::ParseJson(R"({"training.kubeflow.org/job-name":"j",
              "training.kubeflow.org/operator-name":"pytorchjob-controller",
              "training.kubeflow.org/replica-type":"master","release":"j"})"));
  text::Json container = text::FindArray(pod, {"spec", "containers"})->front();
  text::Set(container, {"resources", "limits", "nvidia.com/gpu"}, "2");
  text::Set(pod, {"spec", "containers"}, text::Array{container});
  text::Set(pod, {"metadata", "ownerReferences"}, text::Array{OwnerReference(made)});
  server.Expect(201, "POST", kPodsPath, pod);
  server.Patch(
      200, kPodsPath + std::string("/j-master-0/status"),
      Status(R"({"phase":"Running","hostIP":"10.0.0.1","startTime":"2026-07-30T10:00:00Z"})"));
  server.Patch(200, kJobsPath + std::string("/j/status"),
               Status(R"({"startTime":"2026-07-30T10:00:00Z","conditions":[
                 {"type":"Created","status":"True"},{"type":"Running","status":"True"}]})"));
  server.clock.Advance(std::chrono::seconds(75));
  table = server.Table(kJobsPath);
  EXPECT_EQ(Row(table, 0, 1),
            "j | Running | 1m | RUNNING | PYTORCHJOB | 1m | 2 | 2 | 10.0.0.1 | "
            "2026-07-30T10:00:00.000000Z | ");
  EXPECT_EQ(Row(server.Table(kJobsPath + std::string("/j")), 0, 1), Row(table, 0, 1));

  server.Patch(200, kJobsPath + std::string("/j/status"),
               Status(R"({"completionTime":"2026-07-30T10:01:00Z","conditions":[
                 {"type":"Created","status":"True"},{"type":"Succeeded","status":"True"}]})"));
  server.clock.Advance(std::chrono::hours(5));
  EXPECT_EQ(Row(server.Table(kJobsPath), 0, 0), "j | Succeeded | 5h");
  // A new server finds the same rows.
  const std::string before = Row(server.Table(kJobsPath), 0, 1);
  server.Restart();
  EXPECT_EQ(Row(server.Table(kJobsPath), 0, 1), before);
  EXPECT_NE(before.find("| SUCCEEDED | PYTORCHJOB | 1m |"), std::string::npos);

  server.Expect(200, "DELETE", kJobsPath + std::string("/j"));
  EXPECT_TRUE(text::FindArray(server.Table(kJobsPath), {"rows"})->empty());
}

TEST(Table, JobsOfOneSecondAreToldApart) {
  TestServer server;
  for (const char* const name : {"a", "b"}) {
    server.Expect(201, "POST", kJobsPath, JobObject(name));
    server.clock.Advance(std::chrono::milliseconds(20));
  }
  const text::Json table = server.Table(kJobsPath);
  EXPECT_TRUE(Row(table, 0, 1).ends_with("2026-07-30T10:00:00.000000Z | ")) << Row(table, 0, 1);
  EXPECT_TRUE(Row(table, 1, 1).ends_with("2026-07-30T10:00:00.020000Z | ")) << Row(table, 1, 1);
}

TEST(Table, OfAJobThatHasEndedItsMasterKnowsEnough) {
  TestServer server;
  std::map<std::string, text::Json> made;
  const auto put_pod = [&](const std::string& job, const std::string& type, const char* host) {
    text::Json pod = PodObject(job + "-" + type + "-0");
    text::Set(pod, {"metadata", "labels"},
              text::Object{{"training.kubeflow.org/job-name", job},
                           {"training.kubeflow.org/operator-name", "pytorchjob-controller"},
                           {"training.kubeflow.org/replica-type", type}});
    text::Set(pod, {"metadata", "annotations", "requestGPUsOfJobOwner"}, "8");
    text::Set(pod, {"metadata", "ownerReferences"}, text::Array{OwnerReference(made[job])});
    server.Expect(201, "POST", kPodsPath, pod);
    server.Patch(200, Path(kPodsPath, job + "-" + type + "-0/status"),
                 text::Object{{"status", text::Object{{"phase", "Succeeded"}, {"hostIP", host}}}});
  };
  for (const char* const job : {"both", "only-worker"}) {
    made[job] = server.Expect(201, "POST", kJobsPath, JobObject(job));
    put_pod(job, "worker", "10.0.0.2");
    server.Patch(200, Path(kJobsPath, std::string(job) + "/status"),
                 Status(R"({"startTime":"2026-07-30T10:00:00Z","conditions":[
                   {"type":"Succeeded","status":"True"}],"completionTime":"2026-07-30T10:01:00Z"})"));
  }
  put_pod("both", "master", "10.0.0.1");
  for (int round = 0; round < 2; ++round) {
    const text::Json table = server.Table(kJobsPath);
    EXPECT_EQ(Row(table, 0, 1),
              "both | Succeeded | 0s | SUCCEEDED | PYTORCHJOB | 1m | 8 | 0 | 10.0.0.1 | "
              "2026-07-30T10:00:00.000000Z | ");
    EXPECT_EQ(Row(table, 1, 1),
              "only-worker | Succeeded | 0s | SUCCEEDED | PYTORCHJOB | 1m | 8 | 0 | N/A | "
              "2026-07-30T10:00:00.000000Z | ");
    server.Restart();
  }
}

TEST(Table, JobsAreSelectedAndPaged) {
  TestServer server;
  for (const std::string name : {"a", "b", "c"}) {
    text::Json job = JobObject(name);
    if (name != "b") text::Set(job, {"metadata", "labels", "app"}, "pytorchjob");
    server.Expect(201, "POST", kJobsPath, job);
  }
  const text::Json selected =
      server.Table(kJobsPath + std::string("?labelSelector=app%3Dpytorchjob&includeObject=None"));
  ASSERT_EQ(text::FindArray(selected, {"rows"})->size(), 2U);
  EXPECT_EQ(Row(selected, 1, 0), "c | null | 0s");
  EXPECT_TRUE(text::Find(text::FindArray(selected, {"rows"})->front(), {"object"})->is_null());
  const text::Json first = server.Table(kJobsPath + std::string("?limit=2"));
  const std::string token(GetString(first, {"metadata", "continue"}));
  const text::Json second =
      server.Table(kJobsPath + std::string("?limit=2&continue=") + net::PercentEncode(token));
  ASSERT_EQ(text::FindArray(second, {"rows"})->size(), 1U);
  EXPECT_EQ(Row(second, 0, 0), "c | null | 0s");
  const text::Json whole = server.Table(kJobsPath + std::string("?includeObject=Object"));
  EXPECT_EQ(GetString(text::FindArray(whole, {"rows"})->front(), {"object", "kind"}), "PyTorchJob");
}

TEST(Table, EveryKindHasOne) {
  TestServer server;
  const auto show = [&](const std::string& path, const char* body, const char* header) {
    server.Expect(201, "POST", path, *text::ParseJson(body));
    const text::Json table = server.Table(path);
    EXPECT_EQ(Header(table, 0), header) << path;
    return Row(table, 0, 1);
  };
  const std::string core = "/api/v1/namespaces/default/";
  EXPECT_EQ(
      show("/api/v1/nodes",
           R"({"metadata":{"name":"n","labels":{"node-role.kubernetes.io/worker":""}},
                     "status":{"conditions":[{"type":"Ready","status":"True"}],
                     "addresses":[{"type":"InternalIP","address":"127.0.0.1"}],
                     "nodeInfo":{"kubeletVersion":"v1"}}})",
           "Name | Status | Roles | Age | Version"),
      "n | Ready | worker | 0s | v1 | 127.0.0.1 | <none> | <unknown> | <unknown> | <unknown>");
  EXPECT_EQ(show(core + "services",
                 R"({"metadata":{"name":"s"},"spec":{"clusterIP":"None",
                     "ports":[{"port":23456}],"selector":{"a":"b"}}})",
                 "Name | Type | Cluster-IP | External-IP | Port(s) | Age"),
            "s | ClusterIP | None | <none> | 23456/TCP | 0s | a=b");
  EXPECT_EQ(show(core + "events",
                 R"({"metadata":{"name":"e"},"type":"Normal","reason":"R","message":"m",
                     "involvedObject":{"kind":"Pod","name":"p"},
                     "lastTimestamp":"2026-07-30T09:59:00Z"})",
                 "Last Seen | Type | Reason | Object | Message"),
            "1m | Normal | R | pod/p |  |  | m | 0s | 1 | e");
  EXPECT_EQ(show(core + "configmaps", R"({"metadata":{"name":"c"},"data":{"a":"b","c":"d"}})",
                 "Name | Data | Age"),
            "c | 2 | 0s");
  EXPECT_EQ(show(core + "secrets", R"({"metadata":{"name":"c"},"data":{"a":"Yg=="}})",
                 "Name | Type | Data | Age"),
            "c | Opaque | 1 | 0s");
  EXPECT_EQ(show(core + "persistentvolumeclaims",
                 R"({"metadata":{"name":"v","annotations":{"muster.dev/path":"/d"}},
               "spec":{"accessModes":["ReadOnlyMany"]}})",
                 "Name | Status | Volume | Capacity | Access Modes | Age"),
            "v | Pending | /d |  | ROX | 0s");
  EXPECT_EQ(show("/apis/apps/v1/namespaces/default/deployments",
                 R"({"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},
                     "template":{"metadata":{"labels":{"a":"b"}},
                                 "spec":{"containers":[{"name":"c","image":"i"}]}}}})",
                 "Name | Ready | Up-to-date | Available | Age"),
            "d | 0/1 | 0 | 0 | 0s | c | i | a=b");
  EXPECT_EQ(Row(server.Send("POST", core + "services", R"({"metadata":{"name":"a-port"},
                  "spec":{"type":"NodePort","ports":[{"port":6006,"nodePort":30001}]}})")
                            .status == 201
                    ? server.Table(core + "services")
                    : text::Json(),
                0, 1),
            "a-port | NodePort | <none> | <none> | 6006:30001/TCP | 0s | <none>");
  EXPECT_EQ(show("/apis/coordination.k8s.io/v1/namespaces/default/leases",
                 R"({"metadata":{"name":"l"}})", "Name | Age"),
            "l | 0s");
  EXPECT_EQ(Row(server.Table("/api/v1/namespaces"), 0, 0), "default | Active | 0s");
}

TEST(Table, DistinguishesForms) {
  EXPECT_EQ(FormOf(""), Form::kObject);
  EXPECT_EQ(FormOf("*/*"), Form::kObject);
  EXPECT_EQ(FormOf("application/json"), Form::kObject);
  EXPECT_EQ(FormOf("application/json;as=Table;v=v1;g=meta.k8s.io,application/json"), Form::kTable);
  EXPECT_EQ(FormOf("application/json;as=Table;v=v1beta1;g=meta.k8s.io, application/json"),
            Form::kObject);
  EXPECT_EQ(FormOf("application/vnd.kubernetes.protobuf, application/json"), Form::kObject);
  EXPECT_EQ(FormOf("application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"),
            Form::kPartial);
}

TEST(Table, AThousandJobsAreListedWithoutBeingParsed) {
  TestServer server;
  constexpr int kJobs = 1'000;
  std::vector<std::shared_ptr<FakeResponder>> answers;
  for (int i = 0; i < kJobs; ++i) {
    answers.push_back(
        server.Open("POST", kJobsPath, text::ToJson(JobObject(fmt::format("job-{:04}", i)))));
  }
  for (const auto& answer : answers) EXPECT_EQ(answer->Wait().status, 201);
  const net::Headers headers = {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}};
  const std::string path = kJobsPath + std::string("?includeObject=None");
  const auto time = [&](const std::string& target) {
    const auto begin = std::chrono::steady_clock::now();
    const auto response = server.Send("GET", target, "", headers);
    const auto took = std::chrono::steady_clock::now() - begin;
    fmt::print("{}: {} us, {} bytes\n", target,
               std::chrono::duration_cast<std::chrono::microseconds>(took).count(),
               response.body.size());
    return response;
  };
  time(path);
  time(path);
  time(kJobsPath);
  server.Restart();
  const auto response = time(path);
  EXPECT_EQ(text::FindArray(*text::ParseJson(response.body), {"rows"})->size(),
            static_cast<size_t>(kJobs));
}

}  // namespace
}  // namespace local::server
