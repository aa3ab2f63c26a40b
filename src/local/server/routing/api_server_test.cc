#include "local/server/routing/api_server.h"

#include <gtest/gtest.h>

#include "api/names.h"
#include "local/server/testing/test_server.h"

namespace local::server {
namespace {

using text::GetInt;
using text::GetString;

TEST(ApiServer, CreatesReadsAndListsAnObject) {
  TestServer server;
  const text::Json made = server.Expect(201, "POST", kPodsPath, PodObject("a"));
  EXPECT_FALSE(GetString(made, {"metadata", "uid"}).empty());
  EXPECT_EQ(GetString(made, {"metadata", "creationTimestamp"}), "2026-07-30T10:00:00Z");
  EXPECT_EQ(GetInt(made, {"metadata", "generation"}), 1);
  EXPECT_EQ(GetString(made, {"status", "phase"}), "Pending");
  EXPECT_EQ(GetString(made, {"spec", "restartPolicy"}), "Always");

  EXPECT_EQ(server.Expect(200, "GET", Path(kPodsPath, "a")), made);
  const text::Json list = server.Expect(200, "GET", "/api/v1/pods");
  EXPECT_EQ(GetString(list, {"kind"}), "PodList");
  EXPECT_EQ(GetString(list, {"metadata", "resourceVersion"}),
            GetString(made, {"metadata", "resourceVersion"}));
  ASSERT_EQ(text::FindArray(list, {"items"})->size(), 1U);
  EXPECT_EQ(text::FindArray(list, {"items"})->front(), made);
}

TEST(ApiServer, RefusesInKubernetesWords) {
  struct Case {
    const char* what;
    const char* method;
    std::string target;
    std::string body;
    int status;
    const char* reason;
    const char* message;
  };
  const auto with = [](text::Json object, text::Path path, text::Json value) {
    text::Set(object, path, std::move(value));
    return text::ToJson(object);
  };
  TestServer server;
  server.Expect(201, "POST", kPodsPath, PodObject("taken"));
  server.Expect(201, "POST", kJobsPath, JobObject("taken"));
  const std::string pod = text::ToJson(PodObject("a"));
  const std::string too_long(256 << 10, 'x');
  const std::vector<Case> cases = {
      {"absent pod", "GET", Path(kPodsPath, "x"), "", 404, "NotFound", "pods \"x\" not found"},
      {"absent job", "GET", Path(kJobsPath, "x"), "", 404, "NotFound",
       "pytorchjobs.kubeflow.org \"x\" not found"},
      {"absent on delete", "DELETE", Path(kJobsPath, "x"), "", 404, "NotFound",
       "pytorchjobs.kubeflow.org \"x\" not found"},
      {"absent on put", "PUT", Path(kPodsPath, "a"), pod, 404, "NotFound", "pods \"a\" not found"},
      {"taken", "POST", kJobsPath, text::ToJson(JobObject("taken")), 409, "AlreadyExists",
       "pytorchjobs.kubeflow.org \"taken\" already exists"},
      {"stale", "PUT", Path(kPodsPath, "taken"),
       with(PodObject("taken"), {"metadata", "resourceVersion"}, "1"), 409, "Conflict",
       "Operation cannot be fulfilled on pods \"taken\": the object has been modified; please "
       "apply "
       "your changes to the latest version and try again"},
      {"another uid", "PUT", Path(kPodsPath, "taken"),
       with(PodObject("taken"), {"metadata", "uid"}, "u"), 409, "Conflict", nullptr},
      {"no such namespace", "POST", "/api/v1/namespaces/nowhere/pods",
       text::ToJson(PodObject("a", "nowhere")), 404, "NotFound",
       "namespaces \"nowhere\" not found"},
      {"other namespace", "POST", kPodsPath, text::ToJson(PodObject("a", "nowhere")), 400,
       "BadRequest",
       "the namespace of the provided object does not match the namespace sent on the request"},
      {"other kind", "POST", kJobsPath, pod, 400, "BadRequest",
       "Pod in version \"v1\" cannot be handled as a PyTorchJob"},
      {"other name", "PUT", Path(kPodsPath, "taken"), pod, 400, "BadRequest",
       "the name of the object (a) does not match the name on the URL (taken)"},
      {"no name", "POST", kPodsPath, with(PodObject("a"), {"metadata", "name"}, ""), 422, "Invalid",
       "Pod \"\" is invalid: metadata.name: Required value: name or generateName is required"},
      {"bad name", "POST", kPodsPath, text::ToJson(PodObject("A_b")), 422, "Invalid", nullptr},
      {"bad label", "POST", kPodsPath, with(PodObject("a"), {"metadata", "labels", "x"}, "a b"),
       422, "Invalid", nullptr},
      {"long annotations", "POST", kJobsPath,
       with(JobObject("a"), {"metadata", "annotations", "x"},
            text::Json(std::string_view(too_long))),
       422, "Invalid",
       "PyTorchJob.kubeflow.org \"a\" is invalid: metadata.annotations: Too long: may not be more "
       "than 262144 bytes"},
      {"label that is not a string", "POST", kPodsPath,
       with(PodObject("a"), {"metadata", "labels", "x"}, 1), 400, "BadRequest", nullptr},
      {"no containers", "POST", kPodsPath,
       with(PodObject("a"), {"spec", "containers"}, text::Array{}), 422, "Invalid",
       "Pod \"a\" is invalid: spec.containers: Required value"},
      {"version on create", "POST", kPodsPath,
       with(PodObject("a"), {"metadata", "resourceVersion"}, "7"), 400, "BadRequest",
       "resourceVersion should not be set on objects to be created"},
      {"pod spec", "PUT", Path(kPodsPath, "taken"),
       with(PodObject("taken"), {"spec", "nodeName"}, "n"), 422, "Invalid", nullptr},
      {"service name", "POST", "/api/v1/namespaces/default/services",
       R"({"metadata":{"name":"1a"}})", 422, "Invalid", nullptr},
      {"job schema", "POST", kJobsPath, R"({"metadata":{"name":"j"},"spec":{}})", 422, "Invalid",
       nullptr},
      {"job validation", "POST", kJobsPath,
       with(JobObject("j"), {"spec", "pytorchReplicaSpecs", "Worker", "replicas"}, 0), 403,
       "Forbidden",
       "admission webhook \"validator.pytorchjob.training-operator.kubeflow.org\" denied the "
       "request: spec.pytorchReplicaSpecs[Worker].replicas: Forbidden: must be at least 1"},
      {"unknown group", "GET", "/apis/x.y/v1/things", "", 404, "NotFound",
       "the server could not find the requested resource"},
      {"unknown resource", "GET", "/api/v1/namespaces/default/things", "", 404, "NotFound",
       nullptr},
      {"unknown subresource", "GET", Path(kPodsPath, "taken/ephemeralcontainers"), "", 404,
       "NotFound", nullptr},
      {"outside", "GET", "/nowhere", "", 404, "NotFound", nullptr},
      {"method", "PUT", kPodsPath, pod, 405, "MethodNotAllowed",
       "the server does not allow this method on the requested resource"},
      {"method on object", "POST", Path(kPodsPath, "taken"), pod, 405, "MethodNotAllowed", nullptr},
      {"no body", "POST", kPodsPath, "", 400, "BadRequest", nullptr},
      {"array", "POST", kPodsPath, "[]", 400, "BadRequest", nullptr},
      {"text", "POST", kPodsPath, "\"x\"", 400, "BadRequest", nullptr},
      {"metadata no object", "POST", kPodsPath, R"({"metadata":[]})", 400, "BadRequest", nullptr},
      {"half", "POST", kPodsPath, R"({"metadata":)", 400, "BadRequest", nullptr},
      {"deep", "POST", kPodsPath, std::string(100'000, '['), 400, "BadRequest", nullptr},
      {"bad escape", "GET", "/api/v1/pods%zz", "", 400, "BadRequest", nullptr},
      {"bad limit", "GET", "/api/v1/pods?limit=x", "", 400, "BadRequest", nullptr},
      {"bad continue", "GET", "/api/v1/pods?continue=eHg", "", 400, "BadRequest", nullptr},
      {"bad selector", "GET", "/api/v1/pods?labelSelector=a%20b", "", 400, "BadRequest", nullptr},
      {"bad field", "GET", "/api/v1/pods?fieldSelector=spec.x%3Dy", "", 400, "BadRequest", nullptr},
      {"bad dry run", "POST", std::string(kPodsPath) + "?dryRun=Some", pod, 422, "Invalid",
       nullptr},
      {"future version", "GET", "/api/v1/pods?resourceVersion=999999", "", 504, "Timeout", nullptr},
      {"bad propagation", "DELETE", Path(kPodsPath, "taken?propagationPolicy=x"), "", 422,
       "Invalid", nullptr},
      {"delete options no object", "DELETE", Path(kPodsPath, "taken"), "[1]", 400, "BadRequest",
       nullptr},
      {"precondition", "DELETE", Path(kPodsPath, "taken"), R"({"preconditions":{"uid":"u"}})", 409,
       "Conflict", nullptr},
      {"kept namespace", "DELETE", "/api/v1/namespaces/default", "", 403, "Forbidden",
       "namespaces \"default\" is forbidden: this namespace may not be deleted"},
      {"binding without target", "POST", Path(kPodsPath, "taken/binding"), "{}", 422, "Invalid",
       nullptr},
      {"patch without type", "PATCH", Path(kPodsPath, "taken"), "{}", 415, "UnsupportedMediaType",
       nullptr},
  };
  for (const Case& c : cases) {
    const auto response = server.Send(c.method, c.target, c.body);
    EXPECT_EQ(response.status, c.status) << c.what << ": " << response.body;
    const auto status = text::ParseJson(response.body);
    ASSERT_TRUE(status) << c.what;
    EXPECT_EQ(GetString(*status, {"kind"}), "Status") << c.what;
    EXPECT_EQ(GetString(*status, {"reason"}), c.reason) << c.what;
    EXPECT_EQ(GetInt(*status, {"code"}), c.status) << c.what;
    if (c.message != nullptr) {
      EXPECT_EQ(GetString(*status, {"message"}), c.message) << c.what;
    }
  }
  EXPECT_EQ(text::FindArray(server.Expect(200, "GET", "/api/v1/pods"), {"items"})->size(), 1U);
}

TEST(ApiServer, ReadsALabelWithoutAValueAsEmpty) {
  TestServer server;
  text::Json job = JobObject("j");
  text::Set(job, {"metadata", "labels", "a"}, nullptr);
  const text::Json made = server.Expect(201, "POST", kJobsPath, job);
  ASSERT_NE(text::Find(made, {"metadata", "labels", "a"}), nullptr);
  EXPECT_TRUE(text::Find(made, {"metadata", "labels", "a"})->is_string());
}

TEST(ApiServer, ReplacesOnlyTheVersionThatWasRead) {
  TestServer server;
  text::Json job = server.Expect(201, "POST", kJobsPath, JobObject("j"));
  text::Json stale = job;
  text::Set(job, {"metadata", "labels", "a"}, "b");
  const text::Json labelled = server.Expect(200, "PUT", Path(kJobsPath, "j"), job);
  EXPECT_EQ(GetInt(labelled, {"metadata", "generation"}), 1);
  server.Expect(409, "PUT", Path(kJobsPath, "j"), stale);

  job = labelled;
  text::Set(job, {"spec", "runPolicy", "suspend"}, true);
  text::Set(job, {"status", "x"}, "ignored");
  text::Set(job, {"metadata", "uid"}, "");
  const text::Json changed = server.Expect(200, "PUT", Path(kJobsPath, "j"), job);
  EXPECT_EQ(GetInt(changed, {"metadata", "generation"}), 2);
  EXPECT_EQ(text::Find(changed, {"status"}), nullptr);
  EXPECT_EQ(GetString(changed, {"metadata", "uid"}), GetString(labelled, {"metadata", "uid"}));

  // An unchanged object is not written.
  EXPECT_EQ(server.Expect(200, "PUT", Path(kJobsPath, "j"), changed), changed);
}

TEST(ApiServer, AJobThatIsPutFromItsFileKeepsWhereItWasSubmittedFrom) {
  TestServer server;
  const text::Json file = JobObject("j");
  text::Json job = file;
  text::Set(job, {"metadata", "annotations", api::kPythonAnnotation}, "/venv/bin/python");
  text::Set(job,
            {"spec", "pytorchReplicaSpecs", "Worker", "template", "metadata", "annotations",
             api::kPythonAnnotation},
            "/venv/bin/python");
  const text::Json made = server.Expect(201, "POST", kJobsPath, job);
  text::Json next = file;
  text::Set(next, {"metadata", "resourceVersion"},
            *text::Find(made, {"metadata", "resourceVersion"}));
  EXPECT_EQ(server.Expect(200, "PUT", Path(kJobsPath, "j"), next), made);
}

TEST(ApiServer, OfKubernetesOwnKindsAloneTheLastWriterWins) {
  TestServer server;
  server.Expect(201, "POST", kPodsPath, PodObject("p"));
  server.Expect(200, "PUT", Path(kPodsPath, "p"), PodObject("p"));
  server.Expect(201, "POST", kJobsPath, JobObject("j"));
  server.Expect(422, "PUT", Path(kJobsPath, "j"), JobObject("j"));
  const text::Json refused = server.Expect(422, "PUT", Path(kJobsPath, "j/status"), JobObject("j"));
  EXPECT_EQ(GetString(refused, {"message"}),
            "pytorchjobs.kubeflow.org \"j\" is invalid: metadata.resourceVersion: Invalid value: "
            "0x0: must be specified for an update");
  server.Expect(404, "PUT", Path(kJobsPath, "none"), JobObject("none"));
}

TEST(ApiServer, StatusAndSpecAreWrittenApart) {
  TestServer server;
  text::Json job = server.Expect(201, "POST", kJobsPath, JobObject("j"));
  text::Set(job, {"spec", "nprocPerNode"}, "2");
  text::Set(job, {"status", "conditions"},
            text::Array{text::Object{{"type", "Created"}, {"status", "True"}}});
  const text::Json changed = server.Expect(200, "PUT", Path(kJobsPath, "j/status"), job);
  EXPECT_EQ(text::Find(changed, {"spec", "nprocPerNode"}), nullptr);
  EXPECT_EQ(text::FindArray(changed, {"status", "conditions"})->size(), 1U);
  EXPECT_EQ(GetInt(changed, {"metadata", "generation"}), 1);

  const text::Json patched =
      server.Patch(200, Path(kJobsPath, "j/status"),
                   text::Object{{"status", text::Object{{"startTime", "2026-07-30T10:00:00Z"}}}});
  EXPECT_EQ(GetString(patched, {"status", "startTime"}), "2026-07-30T10:00:00Z");
  EXPECT_EQ(text::FindArray(patched, {"status", "conditions"})->size(), 1U);
}

// The controller could not read it, and the job would stay as it is.
TEST(ApiServer, AStatusHasTheTypesOfItsFields) {
  TestServer server;
  server.Expect(201, "POST", kJobsPath, JobObject("j"));
  const auto refused = [&](const char* status) {
    const text::Json answer = server.Patch(422, Path(kJobsPath, "j/status"),
                                           text::Object{{"status", *text::ParseJson(status)}});
    return std::string(GetString(text::Items(answer, {"details", "causes"})[0], {"message"}));
  };
  EXPECT_EQ(refused(R"({"startTime": "yesterday"})"),
            "Invalid value: \"yesterday\": startTime in body must be of type date-time: "
            "\"yesterday\"");
  EXPECT_EQ(refused(R"({"conditions": [{"type": "X"}]})"), "Required value");
  EXPECT_EQ(refused(R"({"replicaStatuses": {"Worker": {"active": "1"}}})"),
            "Invalid value: \"string\": status.replicaStatuses.Worker.active in body must be of "
            "type integer: \"string\"");
}

TEST(ApiServer, ValuesHaveTheTypesOfTheirFields) {
  TestServer server;
  constexpr const char* maps = "/api/v1/namespaces/default/configmaps";
  const text::Json map =
      text::Object{{"metadata", text::Object{{"name", "c"}}}, {"data", text::Object{{"a", 1}}}};
  EXPECT_EQ(GetString(server.Expect(400, "POST", maps, map), {"message"}),
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal "
            "number into Go struct field ConfigMap.data of type string");
  server.Expect(201, "POST", maps, text::Object{{"metadata", text::Object{{"name", "c"}}}});
  server.Patch(400, Path(maps, "c"), text::Object{{"data", text::Object{{"a", 1}}}});
  server.Patch(400, Path(maps, "c"), text::Object{{"metadata", text::Object{{"namespace", "n"}}}});
  server.Patch(400, Path(maps, "c"), text::Object{{"kind", "Secret"}});
}

// `base64` breaks its lines, and a YAML block ends with one.
TEST(ApiServer, Base64MayHaveLineBreaks) {
  TestServer server;
  const auto made = [&](const char* plural, const char* map) {
    const text::Json object =
        server.Expect(201, "POST", fmt::format("/api/v1/namespaces/default/{}", plural),
                      text::Object{{"metadata", text::Object{{"name", "w"}}},
                                   {map, text::Object{{"a", "Y\nQ==\r\n"}}}});
    return std::string(GetString(object, {map, "a"}));
  };
  EXPECT_EQ(made("secrets", "data"), "YQ==");
  EXPECT_EQ(made("configmaps", "binaryData"), "YQ==");
}

// Templates leave them blank.
TEST(ApiServer, BlankTextsHaveTheirDefaults) {
  TestServer server;
  const std::string core = "/api/v1/namespaces/default/";
  for (const char* const blank : {"null", R"("")"}) {
    const auto made = [&](const std::string& plural, const char* format) {
      const text::Json object = server.Expect(
          201, "POST", core + plural, *text::ParseJson(fmt::format(fmt::runtime(format), blank)));
      server.Expect(200, "DELETE", core + plural + "/x?gracePeriodSeconds=0");
      return object;
    };
    const text::Json service = made("services", R"({{"metadata": {{"name": "x"}},
        "spec": {{"type": {0}, "ports": [{{"port": 1, "protocol": {0}}}]}}}})");
    EXPECT_EQ(GetString(service, {"spec", "type"}), "ClusterIP");
    EXPECT_EQ(GetString(text::Items(service, {"spec", "ports"})[0], {"protocol"}), "TCP");
    EXPECT_EQ(
        GetString(made("secrets", R"({{"metadata": {{"name": "x"}}, "type": {0}}})"), {"type"}),
        "Opaque");
    const text::Json pod =
        made("pods", R"({{"metadata": {{"name": "x"}}, "spec": {{"restartPolicy": {0},
        "containers": [{{"name": "c", "image": "i",
                         "ports": [{{"containerPort": 1, "protocol": {0}}}]}}]}}}})");
    EXPECT_EQ(GetString(pod, {"spec", "restartPolicy"}), "Always");
  }
}

// kubectl's apply says in which order the elements of a list are to be: variables may refer to
// those before them.
TEST(ApiServer, AStrategicMergeKeepsTheOrderThatItSays) {
  TestServer server;
  constexpr const char* deployments = "/apis/apps/v1/namespaces/default/deployments";
  server.Expect(201, "POST", deployments, *text::ParseJson(R"({"metadata":{"name":"d"},"spec":{
      "selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},
      "spec":{"containers":[{"name":"c","image":"i","env":[{"name":"A","value":"1"},
      {"name":"B","value":"1"}]}]}}}})"));
  const auto order = [&](const std::string& container) {
    const auto answer = server.Send(
        "PATCH", Path(deployments, "d"),
        R"({"spec":{"template":{"spec":{"containers":[{"name":"c",)" + container + "}]}}}}",
        {{"Content-Type", "application/strategic-merge-patch+json"}});
    EXPECT_EQ(answer.status, 200) << answer.body;
    std::string names;
    const text::Json object = *text::ParseJson(answer.body);
    const text::Json& first = text::Items(object, {"spec", "template", "spec", "containers"})[0];
    for (const text::Json& variable : text::Items(first, {"env"})) {
      names += GetString(variable, {"name"});
    }
    return names;
  };
  const auto said = [](const char* first, const char* second, const char* third) {
    return fmt::format(
        R"("$setElementOrder/env":[{{"name":"{}"}},{{"name":"{}"}},{{"name":"{}"}}])", first,
        second, third);
  };
  EXPECT_EQ(order(said("C", "A", "B") + R"(,"env":[{"name":"C","value":"1"}])"), "CAB");
  EXPECT_EQ(order(said("B", "C", "A")), "BCA");
  EXPECT_EQ(order(R"("env":[{"name":"D","value":"1"}])"), "DBCA")
      << "of what the patch does not name it is not said where it stands";
  EXPECT_EQ(order(R"("env":[{"name":"C","$patch":"delete"}])"), "DBA");
}

// kubectl's apply says so of a Deployment's strategy.
TEST(ApiServer, AStrategicMergeRetainsTheKeysThatItSays) {
  TestServer server;
  constexpr const char* deployments = "/apis/apps/v1/namespaces/default/deployments";
  server.Expect(201, "POST", deployments, *text::ParseJson(R"({"metadata":{"name":"d"},"spec":{
      "strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}},
      "selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},
      "spec":{"containers":[{"name":"c","image":"i"}]}}}})"));
  const text::Json changed = server.Patch(
      200, Path(deployments, "d"),
      *text::ParseJson(R"({"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}})"),
      "application/strategic-merge-patch+json");
  EXPECT_EQ(*text::Find(changed, {"spec", "strategy"}), text::Json({{"type", "Recreate"}}));
}

// kubectl falls back on it for kinds that the cluster does not have, and old ones always ask for
// it.
TEST(ApiServer, KubectlsOldDescriptionIsEmptyButThere) {
  TestServer server;
  const char* const protobuf = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
  const auto answer = server.Send("GET", "/openapi/v2", "", {{"Accept", protobuf}});
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(net::FindHeader(answer.headers, "Content-Type"),
            "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
  EXPECT_TRUE(
      answer.body.starts_with("\n\x03"
                              "2.0"))
      << answer.body;
  EXPECT_EQ(server.Send("GET", "/openapi/v2", "", {{"Accept", "text/xml"}}).status, 406);
}

TEST(ApiServer, EachKindHasItsOwnFieldsToSelectBy) {
  TestServer server;
  const auto refusal = [&](const std::string& path) {
    return std::string(GetString(server.Expect(400, "GET", path), {"message"}));
  };
  EXPECT_EQ(refusal(kJobsPath + std::string("?fieldSelector=status.phase%3DRunning")),
            "field label not supported: status.phase");
  EXPECT_EQ(refusal("/api/v1/configmaps?fieldSelector=type%3Dx"),
            "\"type\" is not a known field selector: only \"metadata.name\", "
            "\"metadata.namespace\"");
  server.Expect(201, "POST", "/api/v1/nodes",
                *text::ParseJson(R"({"metadata":{"name":"a"},"spec":{"unschedulable":true}})"));
  server.Expect(201, "POST", "/api/v1/nodes", *text::ParseJson(R"({"metadata":{"name":"b"}})"));
  const auto named = [&](const std::string& value) {
    const text::Json list =
        server.Expect(200, "GET", "/api/v1/nodes?fieldSelector=spec.unschedulable%3D" + value);
    const text::Array& items = text::Items(list, {"items"});
    return items.size() == 1 ? std::string(GetString(items[0], {"metadata", "name"})) : "?";
  };
  EXPECT_EQ(named("true"), "a");
  EXPECT_EQ(named("false"), "b");
}

TEST(ApiServer, PodsNameAPriorityClassThatThereIs) {
  TestServer server;
  text::Json pod = PodObject("p");
  text::Set(pod, {"spec", "priorityClassName"}, "high");
  EXPECT_EQ(GetString(server.Expect(403, "POST", kPodsPath, pod), {"message"}),
            "pods \"p\" is forbidden: no PriorityClass with name high was found");
  server.Expect(201, "POST", "/apis/scheduling.k8s.io/v1/priorityclasses",
                *text::ParseJson(R"({"metadata":{"name":"high"},"value":7})"));
  server.Expect(201, "POST", kPodsPath, pod);
}

TEST(ApiServer, Patches) {
  TestServer server;
  server.Expect(201, "POST", kJobsPath, JobObject("j"));
  const text::Json merged =
      server.Patch(200, Path(kJobsPath, "j"),
                   text::Object{{"metadata", text::Object{{"labels", text::Object{{"a", "b"}}}}}});
  EXPECT_EQ(GetString(merged, {"metadata", "labels", "a"}), "b");
  const text::Json json =
      server.Patch(200, Path(kJobsPath, "j"),
                   text::Array{text::Object{{"op", "remove"}, {"path", "/metadata/labels/a"}}},
                   "application/json-patch+json");
  EXPECT_EQ(text::Find(json, {"metadata", "labels", "a"}), nullptr);
  server.Patch(422, Path(kJobsPath, "j"),
               text::Array{text::Object{{"op", "test"}, {"path", "/kind"}, {"value", "x"}}},
               "application/json-patch+json");
  server.Patch(415, Path(kJobsPath, "j"), text::Object{}, "application/nonsense");
  // Kinds that a CRD defines have no strategic merge.
  server.Patch(415, Path(kJobsPath, "j"), text::Object{}, "application/strategic-merge-patch+json");
  server.Patch(400, Path(kJobsPath, "j"), text::Array{}, "application/merge-patch+json");
  server.Patch(400, Path(kJobsPath, "j"),
               text::Array{text::Object{{"op", "replace"}, {"path", ""}, {"value", "x"}}},
               "application/json-patch+json");
  server.Patch(409, Path(kJobsPath, "j"),
               text::Object{{"metadata", text::Object{{"resourceVersion", "1"}}}});
  server.Patch(404, Path(kJobsPath, "none"), text::Object{});
  server.Expect(201, "POST", kPodsPath, PodObject("p"));
  const text::Json strategic = server.Patch(
      200, Path(kPodsPath, "p"), *text::ParseJson(R"({"metadata":{"finalizers":["a/b"]}})"),
      "application/strategic-merge-patch+json");
  EXPECT_EQ(text::FindArray(strategic, {"metadata", "finalizers"})->size(), 1U);
}

TEST(ApiServer, DrawsNamesFromGenerateName) {
  TestServer server;
  text::Json pod = PodObject("");
  text::Erase(pod, {"metadata", "name"});
  text::Set(pod, {"metadata", "generateName"}, "x-");
  const text::Json made = server.Expect(201, "POST", kPodsPath, pod);
  EXPECT_TRUE(GetString(made, {"metadata", "name"}).starts_with("x-"));
  EXPECT_EQ(GetString(made, {"metadata", "name"}).size(), 7U);
}

TEST(ApiServer, ADryRunAnswersAndLeavesNothing) {
  TestServer server;
  const std::string dry = "?dryRun=All";
  const text::Json made = server.Expect(201, "POST", kJobsPath + dry, JobObject("j"));
  EXPECT_FALSE(GetString(made, {"metadata", "uid"}).empty());
  server.Expect(404, "GET", Path(kJobsPath, "j"));
  server.Expect(201, "POST", kJobsPath, JobObject("j"));
  server.Expect(200, "DELETE", Path(kJobsPath, "j") + dry);
  server.Expect(200, "GET", Path(kJobsPath, "j"));
  server.Expect(409, "POST", kJobsPath + dry, JobObject("j"));
}

TEST(ApiServer, SelectsByLabelFieldAndPage) {
  TestServer server;
  for (const std::string name : {"a", "b", "c", "d"}) {
    text::Json pod = PodObject(name);
    text::Set(pod, {"metadata", "labels", "x"}, text::Json(name < "c" ? "low" : "high"));
    server.Expect(201, "POST", kPodsPath, pod);
  }
  const auto names = [&](const std::string& query) {
    std::string all;
    const text::Json list = server.Expect(200, "GET", kPodsPath + query);
    for (const text::Json& item : *text::FindArray(list, {"items"})) {
      all += GetString(item, {"metadata", "name"});
    }
    return all;
  };
  EXPECT_EQ(names("?labelSelector=x%3Dhigh"), "cd");
  EXPECT_EQ(names("?labelSelector=x+in+(low)"), "ab");
  EXPECT_EQ(names("?fieldSelector=metadata.name%3Db"), "b");
  EXPECT_EQ(names("?fieldSelector=status.phase!%3DPending"), "");
  EXPECT_EQ(names("?resourceVersion=0"), "abcd");

  std::string all;
  std::string token;
  std::string version;
  do {
    const text::Json page = server.Expect(
        200, "GET", kPodsPath + std::string("?limit=3&continue=") + net::PercentEncode(token));
    for (const text::Json& item : *text::FindArray(page, {"items"})) {
      all += GetString(item, {"metadata", "name"});
    }
    token = GetString(page, {"metadata", "continue"});
    if (!token.empty()) {
      EXPECT_EQ(GetInt(page, {"metadata", "remainingItemCount"}), 1);
      version = GetString(page, {"metadata", "resourceVersion"});
      server.Expect(201, "POST", kPodsPath, PodObject("e"));
    } else {
      EXPECT_EQ(GetString(page, {"metadata", "resourceVersion"}), version);
    }
  } while (!token.empty());
  EXPECT_EQ(all, "abcde");
}

TEST(ApiServer, ReportsOnEachPageHowManyAreLeft) {
  TestServer server;
  for (const char* name : {"a", "b", "c", "d"}) {
    server.Expect(201, "POST", kPodsPath, PodObject(name));
  }
  std::vector<std::optional<int64_t>> left;
  std::string token;
  do {
    const text::Json page = server.Expect(
        200, "GET", kPodsPath + std::string("?limit=1&continue=") + net::PercentEncode(token));
    token = GetString(page, {"metadata", "continue"});
    left.push_back(GetInt(page, {"metadata", "remainingItemCount"}));
  } while (!token.empty());
  EXPECT_EQ(left, (std::vector<std::optional<int64_t>>{3, 2, 1, std::nullopt}));
}

TEST(ApiServer, BindsAPodOnce) {
  TestServer server;
  server.Expect(201, "POST", kPodsPath, PodObject("a"));
  const text::Json binding = *text::ParseJson(
      R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"a","annotations":{"muster.dev/gpus":"0"}},)"
      R"("target":{"kind":"Node","name":"here"}})");
  server.Expect(201, "POST", Path(kPodsPath, "a/binding"), binding);
  const text::Json pod = server.Expect(200, "GET", Path(kPodsPath, "a"));
  EXPECT_EQ(GetString(pod, {"spec", "nodeName"}), "here");
  EXPECT_EQ(GetString(pod, {"metadata", "annotations", "muster.dev/gpus"}), "0");
  const text::Json again = server.Expect(409, "POST", Path(kPodsPath, "a/binding"), binding);
  EXPECT_NE(GetString(again, {"message"}).find("pod a is already assigned to node \"here\""),
            std::string::npos);
  server.Expect(404, "POST", Path(kPodsPath, "b/binding"), binding);
}

TEST(ApiServer, ScalesTheWorkersOfAJob) {
  TestServer server;
  server.Expect(201, "POST", kJobsPath, JobObject("j"));
  text::Json scale = server.Expect(200, "GET", Path(kJobsPath, "j/scale"));
  EXPECT_EQ(GetInt(scale, {"spec", "replicas"}), 1);
  text::Set(scale, {"spec", "replicas"}, 3);
  EXPECT_EQ(
      GetInt(server.Expect(200, "PUT", Path(kJobsPath, "j/scale"), scale), {"spec", "replicas"}),
      3);
  const text::Json patched = server.Patch(200, Path(kJobsPath, "j/scale"),
                                          text::Object{{"spec", text::Object{{"replicas", 2}}}});
  EXPECT_EQ(GetString(patched, {"kind"}), "Scale");
  const text::Json job = server.Expect(200, "GET", Path(kJobsPath, "j"));
  EXPECT_EQ(GetInt(job, {"spec", "pytorchReplicaSpecs", "Worker", "replicas"}), 2);
  EXPECT_EQ(GetInt(job, {"metadata", "generation"}), 3);
  server.Expect(409, "PUT", Path(kJobsPath, "j/scale"), scale);
  const text::Json negative = server.Patch(422, Path(kJobsPath, "j/scale"),
                                           text::Object{{"spec", text::Object{{"replicas", -1}}}});
  EXPECT_EQ(GetString(negative, {"message"}),
            "PyTorchJob.kubeflow.org \"j\" is invalid: .spec.pytorchReplicaSpecs.Worker.replicas: "
            "Invalid value: -1: should be a non-negative integer");
  const text::Json none = server.Patch(200, Path(kJobsPath, "j/scale"),
                                       text::Object{{"spec", text::Object{{"replicas", 0}}}});
  EXPECT_EQ(text::Find(none, {"spec", "replicas"}), nullptr);
  server.Expect(404, "GET", Path(kJobsPath, "none/scale"));
  server.Expect(405, "DELETE", Path(kJobsPath, "j/scale"));
}

TEST(ApiServer, ScalesADeployment) {
  TestServer server;
  constexpr const char* path = "/apis/apps/v1/namespaces/default/deployments";
  server.Expect(201, "POST", path,
                *text::ParseJson(R"({"apiVersion": "apps/v1", "kind": "Deployment",
    "metadata": {"name": "web"}, "spec": {"selector": {"matchLabels": {"app": "web", "b": "c"}},
    "template": {"metadata": {"labels": {"app": "web", "b": "c"}},
    "spec": {"containers": [{"name": "c", "image": "i"}]}}}})"));
  const text::Json scale = server.Expect(200, "GET", Path(path, "web/scale"));
  EXPECT_EQ(GetInt(scale, {"spec", "replicas"}), 1);
  EXPECT_EQ(GetString(scale, {"status", "selector"}), "app=web,b=c");
  server.Patch(200, Path(path, "web/scale"), text::Object{{"spec", text::Object{{"replicas", 2}}}});
  EXPECT_EQ(GetInt(server.Expect(200, "GET", Path(path, "web")), {"spec", "replicas"}), 2);
  server.Expect(404, "GET", Path("/api/v1/namespaces/default/services", "web/scale"));
}

TEST(ApiServer, AdmissionMayChangeRefuseAndWarn) {
  ApiServer::Options options;
  options.admission = [](Operation operation, const api::Resource& resource,
                         const net::HttpRequest&, text::Json& object,
                         const text::Json* old) -> base::Result<std::vector<std::string>> {
    if (&resource != &api::kPyTorchJobs) return std::vector<std::string>{};
    EXPECT_EQ(old != nullptr, operation == Operation::kUpdate);
    if (GetString(object, {"metadata", "name"}) == "bad") {
      return base::Fail(base::Code::kPermissionDenied, "not here");
    }
    text::Set(object, {"metadata", "annotations", "seen"}, "yes");
    return std::vector<std::string>{"say \"hello\""};
  };
  TestServer server(options);
  const auto response = server.Send("POST", kJobsPath, text::ToJson(JobObject("good")));
  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(net::FindHeader(response.headers, "Warning"), R"(299 - "say \"hello\"")");
  EXPECT_EQ(GetString(*text::ParseJson(response.body), {"metadata", "annotations", "seen"}), "yes");
  EXPECT_EQ(GetString(server.Expect(403, "POST", kJobsPath, JobObject("bad")), {"message"}),
            "not here");

  text::Json deprecated = JobObject("old");
  text::Set(deprecated, {"spec", "elasticPolicy", "nProcPerNode"}, 2);
  const auto warned = server.Send("POST", kJobsPath, text::ToJson(deprecated));
  EXPECT_EQ(net::FindHeader(warned.headers, "Warning"),
            "299 - \"spec.elasticPolicy.nProcPerNode is deprecated, use spec.nprocPerNode "
            "instead\"");
}

TEST(ApiServer, AnswersDiscovery) {
  TestServer server;
  EXPECT_EQ(GetString(server.Expect(200, "GET", "/api"), {"kind"}), "APIVersions");
  EXPECT_EQ(GetString(server.Expect(200, "GET", "/apis"), {"kind"}), "APIGroupList");
  EXPECT_EQ(GetString(server.Expect(200, "GET", "/apis/kubeflow.org"), {"kind"}), "APIGroup");
  const text::Json list = server.Expect(200, "GET", "/apis/kubeflow.org/v1");
  EXPECT_EQ(GetString(list, {"groupVersion"}), "kubeflow.org/v1");
  EXPECT_EQ(text::FindArray(list, {"resources"})->size(), 3U);
  server.Expect(200, "GET", "/api/v1?timeout=32s");
  server.Expect(404, "GET", "/apis/kubeflow.org/v2");
  EXPECT_EQ(GetString(server.Expect(200, "GET", "/version"), {"major"}), "1");
  for (const char* path : {"/healthz", "/readyz?verbose", "/livez"}) {
    EXPECT_EQ(server.Send("GET", path).body, "ok");
  }
}

// kubectl create and apply request it.
TEST(ApiServer, DescribesThePatchOfEveryKind) {
  TestServer server;
  const text::Json root = server.Expect(200, "GET", "/openapi/v3?timeout=32s");
  const std::string url(GetString(root, {"paths", "apis/kubeflow.org/v1", "serverRelativeURL"}));
  EXPECT_EQ(url, "/openapi/v3/apis/kubeflow.org/v1");
  const text::Json document = server.Expect(200, "GET", url);
  EXPECT_EQ(GetString(document,
                      {"paths", "/apis/kubeflow.org/v1/namespaces/{namespace}/pytorchjobs/{name}",
                       "patch", "x-kubernetes-group-version-kind", "kind"}),
            "PyTorchJob");
  server.Expect(404, "GET", "/openapi/v3/apis/none/v1");
}

TEST(ApiServer, HandsForeignPathsOn) {
  ApiServer::Options options;
  options.fallback = [](const net::HttpRequest& request,
                        const std::shared_ptr<net::Responder>& responder) {
    responder->Send({200, {}, "mine " + request.target});
  };
  TestServer server(options);
  EXPECT_EQ(server.Send("GET", "/muster/x").body, "mine /muster/x");
  EXPECT_EQ(server.Send("GET", "/api/v1/nothing").status, 404);
}

TEST(ApiServer, AFullDiskIsAClearAnswerAndPasses) {
  ApiServer::Options options;
  options.max_store_bytes = 256 << 10;
  TestServer server(options);
  text::Json secret = *text::ParseJson(R"({"metadata":{"name":"s"}})");
  text::Set(secret, {"stringData", "x"}, text::Json(std::string(30'000, 'x')));
  net::HttpResponse response;
  int count = 0;
  do {
    text::Set(secret, {"metadata", "name"}, text::Json("s" + std::to_string(count++)));
    response = server.Send("POST", "/api/v1/namespaces/default/secrets", text::ToJson(secret));
  } while (response.status == 201 && count < 20);
  EXPECT_EQ(response.status, 507);
  EXPECT_NE(response.body.find("no space left on the disk"), std::string::npos);
  server.Expect(200, "DELETE", "/api/v1/namespaces/default/secrets/s0");
  server.Expect(201, "POST", "/api/v1/namespaces/default/secrets", secret);
}

TEST(ApiServer, SecretsTakeTextAndKeepBase64) {
  TestServer server;
  const text::Json secret =
      server.Expect(201, "POST", "/api/v1/namespaces/default/secrets",
                    *text::ParseJson(R"({"metadata":{"name":"s"},"stringData":{"a":"hello"}})"));
  EXPECT_EQ(GetString(secret, {"data", "a"}), "aGVsbG8=");
  EXPECT_EQ(text::Find(secret, {"stringData"}), nullptr);
  EXPECT_EQ(GetString(secret, {"type"}), "Opaque");
}

}  // namespace
}  // namespace local::server
