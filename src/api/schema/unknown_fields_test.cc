#include "api/schema/unknown_fields.h"

#include <gtest/gtest.h>

#include "api/job/pytorch_job.h"

namespace api {
namespace {

using Strings = std::vector<std::string>;

// A job of one worker whose template is `pod_template`.
text::Json JobOf(std::string_view pod_template) {
  return *text::ParseJson(
      R"({"metadata":{"name":"j"},"spec":{"pytorchReplicaSpecs":{"Worker":{"template":)" +
      std::string(pod_template) + "}}}}");
}

struct TypoCase {
  const char* pod_template;
  const char* message;  // follows `unknown field "spec.pytorchReplicaSpecs.Worker.template`
};

class Typos : public testing::TestWithParam<TypoCase> {};

TEST_P(Typos, AreNamedWithWhatWasMeant) {
  EXPECT_EQ(UnknownTemplateFields(JobOf(GetParam().pod_template), nullptr),
            Strings{std::string("unknown field \"spec.pytorchReplicaSpecs.Worker.template") +
                    GetParam().message});
}

INSTANTIATE_TEST_SUITE_P(
    UnknownFields, Typos,
    testing::Values(
        TypoCase{R"({"spec":{"containers":[{"comand":["a"]}]}})",
                 R"(.spec.containers[0].comand": did you mean "command"?)"},
        TypoCase{R"({"spec":{"containers":[{},{"Image":"x"}]}})",
                 R"(.spec.containers[1].Image": did you mean "image"?)"},
        TypoCase{R"({"spec":{"initContainers":[{"image_pull_policy":"Always"}]}})",
                 R"(.spec.initContainers[0].image_pull_policy": did you mean "imagePullPolicy"?)"},
        TypoCase{R"({"spec":{"containers":[{"resources":{"limit":{"cpu":1}}}]}})",
                 R"(.spec.containers[0].resources.limit": did you mean "limits"?)"},
        TypoCase{
            R"({"spec":{"volumes":[{"name":"v","persistentVolumeClam":{}}]}})",
            R"(.spec.volumes[0].persistentVolumeClam": did you mean "persistentVolumeClaim"?)"},
        TypoCase{R"({"spec":{"tolerations":[{"kee":"a"}]}})",
                 R"(.spec.tolerations[0].kee": did you mean "key"?)"},
        TypoCase{R"({"spec":{"nodeSelektor":{"a":"b"}}})",
                 R"(.spec.nodeSelektor": did you mean "nodeSelector"?)"},
        TypoCase{R"({"spec":{"containers":[{"nodeSelector":{"a":"b"}}]}})",
                 R"(.spec.containers[0].nodeSelector": it belongs in template.spec)"},
        TypoCase{R"({"nodeSelector":{"a":"b"},"spec":{}})",
                 R"(.nodeSelector": it belongs in template.spec)"},
        TypoCase{R"({"spec":{"volumeMounts":[]}})",
                 R"(.spec.volumeMounts": it belongs in a container)"},
        TypoCase{R"({"spec":{"fieldOfTomorrow":1}})",
                 R"(.spec.fieldOfTomorrow" (--validate=warn accepts it))"}));

TEST(UnknownTemplateFields, WhatPodsHaveIsNotReported) {
  EXPECT_EQ(
      UnknownTemplateFields(
          JobOf(R"({"metadata":{"labels":{"any/name":"x"}},"spec":{"hostnameOverride":"h",)"
                R"("nodeSelector":{"comand":"x"},"volumes":[{"name":"v","csi":{"comand":1}}],)"
                R"("containers":[{"env":[{"name":"A","valueFrom":{"fileKeyRef":{}}}],)"
                R"("restartPolicyRules":[],"resources":{"limits":{"nvidia.com/gpu":1}}}]}})"),
          nullptr),
      Strings());
}

TEST(UnknownTemplateFields, AreReportedOnce) {
  const text::Json old = JobOf(R"({"spec":{"novel":1}})");
  EXPECT_EQ(UnknownTemplateFields(JobOf(R"({"spec":{"novel":2}})"), &old), Strings());
  EXPECT_EQ(UnknownTemplateFields(JobOf(R"({"spec":{"novel":1,"other":1}})"), &old).size(), 1u);
}

TEST(UnknownTemplateFields, OddShapesAreLeftToTheSchema) {
  for (const char* const odd :
       {"[]", "1", "null", R"({"spec":[1]})", R"({"spec":{"containers":{"comand":1}}})",
        R"({"spec":{"containers":[1,null,[]]},"metadata":null})"}) {
    EXPECT_EQ(UnknownTemplateFields(JobOf(odd), nullptr), Strings()) << odd;
  }
  EXPECT_EQ(UnknownTemplateFields(text::Json(1), nullptr), Strings());
  EXPECT_EQ(
      UnknownTemplateFields(*text::ParseJson(R"({"spec":{"pytorchReplicaSpecs":[]}})"), nullptr),
      Strings());
}

TEST(ValidatePyTorchJob, TheRequestSaysWhatBecomesOfThem) {
  const text::Json job =
      JobOf(R"({"spec":{"containers":[{"name":"pytorch","image":"x","comand":[]}]}})");
  const Strings messages = UnknownTemplateFields(job, nullptr);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(ValidatePyTorchJob(job, nullptr, FieldValidation::kStrict).errors, messages);
  EXPECT_EQ(ValidatePyTorchJob(job, nullptr, FieldValidation::kWarn).errors, Strings());
  EXPECT_EQ(ValidatePyTorchJob(job, nullptr, FieldValidation::kWarn).warnings, messages);
  EXPECT_EQ(ValidatePyTorchJob(job, nullptr, FieldValidation::kIgnore).warnings, Strings());
}

}  // namespace
}  // namespace api
