// What Kubeflow's operator v1.9 on a real API server answered to each input (compat/pytorchjob.md
// 1.5): status code, message and warning, byte for byte.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/job/pytorch_job.h"
#include "api/names.h"

namespace api {
namespace {

struct GoldenCase {
  std::string_view input;
  std::string_view job_name;
  std::string_view spec;  // $T, $M and $W stand for the usual template, Master and Worker
  int code;
  std::string_view message;  // 403: after the webhook's prefix
  std::string_view warning;
};

// clang-format off
constexpr GoldenCase kGoldenCases[] = {
    {"name 0-test", "0-test", R"({"pytorchReplicaSpecs":{"Master":$M,"Worker":$W}})", 403, R"(metadata.name: Invalid value: "0-test": should match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?'))", ""},
    {"name with dot", "a.b", R"({"pytorchReplicaSpecs":{"Master":$M,"Worker":$W}})", 403, R"(metadata.name: Invalid value: "a.b": should match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?'))", ""},
    {"name 64 chars", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", R"({"pytorchReplicaSpecs":{"Master":$M,"Worker":$W}})", 403, R"(metadata.name: Invalid value: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": should match: must be no more than 63 characters)", ""},
    {"no pytorchReplicaSpecs", "j", "{}", 422, R"(PyTorchJob.kubeflow.org "j" is invalid: [spec.pytorchReplicaSpecs: Required value, <nil>: Invalid value: "null": some validation rules were not checked because the object was invalid; correct the existing errors to complete validation])", ""},
    {"pytorchReplicaSpecs {}", "emptyrs", R"({"pytorchReplicaSpecs":{}})", 201, "", ""},
    {"master replicas 2", "j", R"({"pytorchReplicaSpecs":{"Master":{"replicas":2,"template":$T}}})", 403, "spec.pytorchReplicaSpecs[Master].replicas: Forbidden: must be 1", ""},
    {"master replicas unset", "j", R"({"pytorchReplicaSpecs":{"Master":{"template":$T}}})", 403, "spec.pytorchReplicaSpecs[Master].replicas: Forbidden: must be 1", ""},
    {"worker replicas 0", "j", R"({"pytorchReplicaSpecs":{"Worker":{"replicas":0,"template":$T}}})", 403, "spec.pytorchReplicaSpecs[Worker].replicas: Forbidden: must be at least 1", ""},
    {"worker replicas unset", "wunset", R"({"pytorchReplicaSpecs":{"Worker":{"template":$T}}})", 201, "", ""},
    {"lower-case master", "j", R"({"pytorchReplicaSpecs":{"master":{"replicas":1,"template":$T}}})", 403, R"(spec.pytorchReplicaSpecs[master]: Unsupported value: "master": supported values: "Master", "Worker")", ""},
    {"unknown type", "j", R"({"pytorchReplicaSpecs":{"Chief":{"replicas":1,"template":$T}}})", 403, R"(spec.pytorchReplicaSpecs[Chief]: Unsupported value: "Chief": supported values: "Master", "Worker")", ""},
    {"no containers", "j", R"({"pytorchReplicaSpecs":{"Worker":{"replicas":1,"template":{"spec":{"containers":[]}}}}})", 403, "[spec.pytorchReplicaSpecs[Worker].template.spec.containers: Required value: must be specified, spec.pytorchReplicaSpecs[Worker].template.spec.containers: Required value: must have at least one container with name pytorch]", ""},
    {"no template", "j", R"({"pytorchReplicaSpecs":{"Worker":{"replicas":1}}})", 403, "[spec.pytorchReplicaSpecs[Worker].template.spec.containers: Required value: must be specified, spec.pytorchReplicaSpecs[Worker].template.spec.containers: Required value: must have at least one container with name pytorch]", ""},
    {"empty image", "j", R"({"pytorchReplicaSpecs":{"Worker":{"replicas":1,"template":{"spec":{"containers":[{"name":"pytorch"}]}}}}})", 403, "spec.pytorchReplicaSpecs[Worker].template.spec.containers[0].image: Required value: must be required", ""},
    {"wrong container name", "j", R"({"pytorchReplicaSpecs":{"Worker":{"replicas":1,"template":{"spec":{"containers":[{"name":"main","image":"registry.local/train:1"}]}}}}})", 403, "spec.pytorchReplicaSpecs[Worker].template.spec.containers: Required value: must have at least one container with name pytorch", ""},
    {"elastic without worker", "j", R"({"pytorchReplicaSpecs":{"Master":$M},"elasticPolicy":{}})", 403, "spec.pytorchReplicaSpecs[Worker]: Required value: must be configured if elastic policy is used", ""},
    {"both nproc", "j", R"({"pytorchReplicaSpecs":{"Master":$M,"Worker":$W},"nprocPerNode":"1","elasticPolicy":{"nProcPerNode":1}})", 403, "spec.elasticPolicy.nProcPerNode: Forbidden: must not be used with spec.nprocPerNode", "spec.elasticPolicy.nProcPerNode is deprecated, use spec.nprocPerNode instead"},
    {"deprecated nproc (warning)", "dep", R"({"pytorchReplicaSpecs":{"Worker":$W},"elasticPolicy":{"nProcPerNode":1}})", 201, "", "spec.elasticPolicy.nProcPerNode is deprecated, use spec.nprocPerNode instead"},
    {"managedBy other", "j", R"({"pytorchReplicaSpecs":{"Master":$M,"Worker":$W},"runPolicy":{"managedBy":"other-job-controller"}})", 403, R"(spec.runPolicy.managedBy: Unsupported value: "other-job-controller": supported values: "kubeflow.org/training-operator", "kueue.x-k8s.io/multikueue")", ""},
    {"negative backoffLimit", "negb", R"({"pytorchReplicaSpecs":{"Master":$M,"Worker":$W},"runPolicy":{"backoffLimit":-1}})", 201, "", ""},
    {"bad restartPolicy", "badr", R"({"pytorchReplicaSpecs":{"Master":$M,"Worker":{"replicas":2,"template":$T,"restartPolicy":"Sometimes"}}})", 201, "", ""},
    {"bad cleanPodPolicy", "badc", R"({"pytorchReplicaSpecs":{"Master":$M,"Worker":$W},"runPolicy":{"cleanPodPolicy":"Maybe"}})", 201, "", ""},
    {"min>max", "minmax", R"({"pytorchReplicaSpecs":{"Worker":$W},"elasticPolicy":{"minReplicas":4,"maxReplicas":2}})", 201, "", ""},
    {"nprocPerNode int type", "j", R"({"pytorchReplicaSpecs":{"Master":$M,"Worker":$W},"nprocPerNode":4})", 422, R"(PyTorchJob.kubeflow.org "j" is invalid: [spec.nprocPerNode: Invalid value: "integer": spec.nprocPerNode in body must be of type string: "integer", <nil>: Invalid value: "null": some validation rules were not checked because the object was invalid; correct the existing errors to complete validation])", ""},
    {"nprocPerNode foo", "npfoo", R"({"pytorchReplicaSpecs":{"Master":$M,"Worker":$W},"nprocPerNode":"foo"})", 201, "", ""},
    {"rdzvConf []", "rdzv", R"({"pytorchReplicaSpecs":{"Worker":$W},"elasticPolicy":{"rdzvConf":[]}})", 201, "", ""},
};
// clang-format on

std::string Expand(std::string text) {
  constexpr std::pair<std::string_view, std::string_view> kShorthands[] = {
      {"$M", R"({"replicas":1,"template":$T,"restartPolicy":"OnFailure"})"},
      {"$W", R"({"replicas":2,"template":$T,"restartPolicy":"OnFailure"})"},
      {"$T", R"({"spec":{"containers":[{"name":"pytorch","image":"registry.local/train:1"}]}})"},
  };
  for (const auto& [brief, full] : kShorthands) {
    for (size_t at = text.find(brief); at != std::string::npos; at = text.find(brief)) {
      text.replace(at, brief.size(), full);
    }
  }
  return text;
}

struct Answer {
  int code = 201;
  std::string message;
  std::string warning;
};

Answer Admit(const text::Json& job) {
  const auto causes = CheckPyTorchJobSchema(job, nullptr);
  if (!causes.empty()) {
    return {422,
            fmt::format("PyTorchJob.kubeflow.org \"{}\" is invalid: {}",
                        text::GetString(job, {"metadata", "name"}), JoinErrors(causes)),
            ""};
  }
  const Validation validation = ValidatePyTorchJob(job, nullptr);
  Answer answer;
  if (!validation.warnings.empty()) answer.warning = validation.warnings.front();
  if (!validation.errors.empty()) {
    answer.code = 403;
    answer.message = JoinErrors(validation.errors);
  }
  return answer;
}

class JobValidationGolden : public testing::TestWithParam<GoldenCase> {};

TEST_P(JobValidationGolden, AnswersAsTheOriginalDid) {
  const GoldenCase& golden = GetParam();
  const std::string written =
      fmt::format(R"({{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":)"
                  R"({{"name":"{}"}},"spec":{}}})",
                  golden.job_name, Expand(std::string(golden.spec)));
  const auto job = text::ParseJson(written);
  ASSERT_TRUE(job) << written;
  const Answer answer = Admit(*job);
  EXPECT_EQ(answer.code, golden.code);
  EXPECT_EQ(answer.message, golden.message);
  EXPECT_EQ(answer.warning, golden.warning);
}

INSTANTIATE_TEST_SUITE_P(Inputs, JobValidationGolden, testing::ValuesIn(kGoldenCases),
                         [](const testing::TestParamInfo<GoldenCase>& golden) {
                           std::string name;
                           for (const char c : golden.param.input) {
                             name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
                           }
                           return fmt::format("{}_{}", golden.index, name);
                         });

}  // namespace
}  // namespace api
