#include "local/server/schema/field_validation.h"

#include <gtest/gtest.h>

#include "local/server/backend/admission.h"
#include "local/server/testing/test_server.h"

namespace local::server {
namespace {

const char* const kMapsOfDefault = "/api/v1/namespaces/default/configmaps";
const net::Headers kAsApplied = {{"Content-Type", "application/apply-patch+yaml"}};

using FieldPaths = std::vector<std::string>;

std::vector<std::string> WarningsOf(const net::HttpResponse& response) {
  std::vector<std::string> warnings;
  for (const auto& [name, value] : response.headers) {
    if (name == "Warning") warnings.push_back(value);
  }
  return warnings;
}

std::string OddMap(const std::string& name) {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name +
         R"(","colour":"red"},"data":{"a":"1"},"spec":{"x":1}})";
}

text::Json OddJob() {
  text::Json job = JobObject("j");
  text::Set(job, {"extra"}, 1);
  text::Set(job, {"metadata", "hm"}, 1);
  text::Set(job, {"spec", "wrong"}, 1);
  text::Set(job, {"spec", "runPolicy", "zz"}, 1);
  text::Set(job, {"spec", "pytorchReplicaSpecs", "Master", "template", "spec", "novel"}, 1);
  text::Set(job, {"spec", "pytorchReplicaSpecs", "Master", "template", "metadata", "hue"}, 1);
  return job;
}

TEST(TakeUnknownFields, NamesThemAndLeavesTheRest) {
  text::Json pod = PodObject("p");
  text::Set(pod, {"spec", "colour"}, "red");
  text::Set(text::Find(pod, {"spec", "containers"})->get_array()[0], {"imag"}, "x");
  text::Set(pod, {"spec", "nodeSelector", "any.name"}, "x");
  text::Json clean = PodObject("p");
  text::Set(clean, {"spec", "nodeSelector", "any.name"}, "x");
  EXPECT_EQ(TakeUnknownFields(api::kPods, pod),
            (FieldPaths{"spec.containers[0].imag", "spec.colour"}));
  EXPECT_EQ(pod, clean);
}

TEST(TakeUnknownFields, TheDefinitionOfJobsKeepsPodsOpen) {
  text::Json job = OddJob();
  EXPECT_EQ(
      TakeUnknownFields(api::kPyTorchJobs, job),
      (FieldPaths{"metadata.hm", "extra", "spec.pytorchReplicaSpecs.Master.template.metadata.hue",
                  "spec.runPolicy.zz", "spec.wrong"}));
  EXPECT_EQ(
      text::GetInt(job, {"spec", "pytorchReplicaSpecs", "Master", "template", "spec", "novel"}), 1);
}

TEST(TakeUnknownFields, OddShapesAreLeftToOthers) {
  for (const char* const odd : {"[]", "1", R"({"spec":[]})", R"({"spec":{"containers":{"a":1}}})",
                                R"({"spec":{"containers":[1,null]},"metadata":null})"}) {
    text::Json object = *text::ParseJson(odd);
    EXPECT_TRUE(TakeUnknownFields(api::kPods, object).empty()) << odd;
    EXPECT_EQ(text::ToJson(object), odd);
  }
}

TEST(DuplicateFields, AreNamedByPath) {
  EXPECT_EQ(
      DuplicateFields(R"({"data":{"a":"1","a":"2","a":"}"},"data":{},"list":[{},{"x":1,"x":[]}]})"),
      (FieldPaths{"data.a", "list[1].x", "data"}));
  EXPECT_TRUE(DuplicateFields(R"({"a":{"b":"\"a\":","c":["a","a"]},"b":{"b":1}})").empty());
}

TEST(DuplicateFields, MalformedTextsEnd) {
  const std::string whole = R"({"a":[{"b":1,"b":"x\"y"},2],"a":null})";
  for (size_t length = 0; length <= whole.size(); ++length) {
    EXPECT_LE(DuplicateFields(whole.substr(0, length)).size(), 2u);
  }
  for (const char* const odd : {"[}", "{]", "[,,]", "{,,", "[1 2]", "{\"a\" 1}", "\"\\"}) {
    EXPECT_TRUE(DuplicateFields(odd).empty()) << odd;
  }
}

TEST(FieldValidationTest, StrictRefusesAnObject) {
  TestServer server;
  const text::Json refusal =
      server.Expect(400, "POST", std::string(kMapsOfDefault) + "?fieldValidation=Strict",
                    *text::ParseJson(OddMap("c")));
  EXPECT_EQ(text::GetString(refusal, {"message"}),
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: "
            "unknown field \"metadata.colour\", unknown field \"spec\"");
  server.Expect(404, "GET", Path(kMapsOfDefault, "c"));
}

TEST(FieldValidationTest, WarnIsTheDefaultAndTakesThemOut) {
  TestServer server;
  std::string body = OddMap("c");
  body.insert(body.size() - 1, R"(,"data":{"a":"2"})");
  const auto made = server.Send("POST", kMapsOfDefault, body);
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(WarningsOf(made), (FieldPaths{R"(299 - "duplicate field \"data\"")",
                                          R"(299 - "unknown field \"metadata.colour\"")",
                                          R"(299 - "unknown field \"spec\"")"}));
  EXPECT_EQ(text::Find(server.Expect(200, "GET", Path(kMapsOfDefault, "c")), {"spec"}), nullptr);
}

TEST(FieldValidationTest, IgnoreIsSilent) {
  TestServer server;
  const auto made =
      server.Send("POST", std::string(kMapsOfDefault) + "?fieldValidation=Ignore", OddMap("c"));
  EXPECT_EQ(made.status, 201);
  EXPECT_TRUE(WarningsOf(made).empty());
  EXPECT_EQ(made.body.find("colour"), std::string::npos);
}

TEST(FieldValidationTest, ATypoInAPodTemplateIsAnsweredAsByTheWebhook) {
  TestServer server;
  text::Json job = JobObject("j");
  text::Set(
      text::Find(job, {"spec", "pytorchReplicaSpecs", "Master", "template", "spec", "containers"})
          ->get_array()[0],
      {"comand"}, text::Array());
  const std::string warning =
      "unknown field \"spec.pytorchReplicaSpecs.Master.template.spec.containers[0].comand\": did "
      "you mean \"command\"?";
  const text::Json refusal =
      server.Expect(403, "POST", std::string(kJobsPath) + "?fieldValidation=Strict", job);
  EXPECT_EQ(text::GetString(refusal, {"message"}),
            "admission webhook \"validator.pytorchjob.training-operator.kubeflow.org\" denied the "
            "request: " +
                warning);
  const auto made = server.Send("POST", kJobsPath, text::ToJson(job));
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(WarningsOf(made), FieldPaths{WarningHeader(warning)});
  // It is kept, and not reported again.
  EXPECT_NE(made.body.find("comand"), std::string::npos);
  const auto changed = server.Send("PATCH", Path(kJobsPath, "j?fieldValidation=Strict"),
                                   R"({"metadata":{"labels":{"a":"b"}}})",
                                   {{"Content-Type", "application/merge-patch+json"}});
  EXPECT_EQ(changed.status, 200) << changed.body;
}

TEST(FieldValidationTest, OtherWordsAreRefused) {
  TestServer server;
  const text::Json refusal =
      server.Expect(422, "POST", std::string(kMapsOfDefault) + "?fieldValidation=Maybe",
                    *text::ParseJson(OddMap("c")));
  EXPECT_EQ(text::GetString(refusal, {"message"}),
            "CreateOptions.meta.k8s.io \"\" is invalid: fieldValidation: Unsupported value: "
            "\"Maybe\": supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"");
}

TEST(FieldValidationTest, PatchesAreCheckedByWhatTheyMake) {
  TestServer server;
  server.Expect(201, "POST", kJobsPath, JobObject("j"));
  const text::Json wrong = text::Object{{"spec", text::Object{{"wrong", 1}}}};
  const text::Json refusal = server.Patch(422, Path(kJobsPath, "j?fieldValidation=Strict"), wrong);
  EXPECT_NE(text::GetString(refusal, {"message"})
                .find("strict decoding error: unknown field \"spec.wrong\""),
            std::string_view::npos);
  const auto warned = server.Send("PATCH", Path(kJobsPath, "j"), text::ToJson(wrong),
                                  {{"Content-Type", "application/merge-patch+json"}});
  EXPECT_EQ(warned.status, 200);
  EXPECT_EQ(WarningsOf(warned), (FieldPaths{R"(299 - "unknown field \"spec.wrong\"")"}));
  EXPECT_EQ(warned.body.find("wrong"), std::string::npos);
}

TEST(FieldValidationTest, ApplyTakesNoUnknownFieldAtAll) {
  TestServer server;
  text::Json pod = PodObject("p");
  text::Set(text::Find(pod, {"spec", "containers"})->get_array()[0], {"imag"}, "x");
  const text::Json refusal = server.Expect(
      500, "PATCH", Path(kPodsPath, "p?fieldManager=m&fieldValidation=Ignore"), pod, kAsApplied);
  EXPECT_EQ(text::GetString(refusal, {"message"}),
            "failed to create typed patch object (default/p; /v1, Kind=Pod): "
            ".spec.containers[name=\"pytorch\"].imag: field not declared in schema");
}

}  // namespace
}  // namespace local::server
