#include <gtest/gtest.h>

#include "api/job/pytorch_job.h"
#include "api/names.h"

namespace api {
namespace {

using testing::Test;

text::Json Container(std::string_view name = "pytorch", std::string_view image = "train:1") {
  return {{"name", name}, {"image", image}};
}

text::Json Replica(int replicas, text::Array containers = {Container()}) {
  return {{"replicas", replicas},
          {"template", {{"spec", {{"containers", std::move(containers)}}}}}};
}

// Master 1 and Worker 1, named test.
class JobValidation : public Test {
 protected:
  JobValidation() {
    text::Set(job_, {"metadata", "name"}, "test");
    text::Set(job_, {"spec", "pytorchReplicaSpecs", "Master"}, Replica(1));
    text::Set(job_, {"spec", "pytorchReplicaSpecs", "Worker"}, Replica(1));
  }

  std::vector<std::string> Errors() const { return ValidatePyTorchJob(job_, nullptr).errors; }
  std::vector<std::string> Warnings() const { return ValidatePyTorchJob(job_, nullptr).warnings; }
  std::vector<std::string> Causes() const { return CheckPyTorchJobSchema(job_, nullptr); }

  text::Json job_ = text::Object();
};

using Strings = std::vector<std::string>;

TEST_F(JobValidation, RefusesANameThatItsServicesCannotHave) {
  const auto named = [this](size_t length) {
    text::Set(job_, {"metadata", "name"}, text::Json(std::string(length, 'a')));
    return Errors();
  };
  EXPECT_EQ(named(54), Strings());
  const Strings errors = named(55);
  ASSERT_EQ(errors.size(), 2U);  // one for the master, one for the worker
  EXPECT_NE(errors[0].find("must be no more than 54 characters: the job's service aaaa"),
            std::string::npos)
      << errors[0];
  EXPECT_EQ(named(63).size(), 2U);
  // An existing job may be edited.
  EXPECT_EQ(ValidatePyTorchJob(job_, &job_).errors, Strings());
}

TEST_F(JobValidation, W1_AcceptsOurManagerAndElasticPolicy) {
  text::Set(job_, {"spec", "runPolicy", "managedBy"}, text::Json(kManagedByUs));
  text::Set(job_, {"spec", "elasticPolicy", "rdzvBackend"}, "c10d");
  EXPECT_EQ(Errors(), Strings());
  EXPECT_EQ(Warnings(), Strings());
  EXPECT_EQ(Causes(), Strings());
}

TEST_F(JobValidation, W2_RefusesNameThatBeginsWithADigit) {
  text::Set(job_, {"metadata", "name"}, "0-test");
  ASSERT_EQ(Errors().size(), 1U);
  EXPECT_TRUE(Errors()[0].starts_with("metadata.name: Invalid value: \"0-test\": should match: "));
}

TEST_F(JobValidation, W3_RequiresContainersTwice) {
  text::Set(job_, {"spec", "pytorchReplicaSpecs", "Worker"}, Replica(1, {}));
  const std::string path = "spec.pytorchReplicaSpecs[Worker].template.spec.containers";
  EXPECT_EQ(
      Errors(),
      (Strings{path + ": Required value: must be specified",
               path + ": Required value: must have at least one container with name pytorch"}));
}

TEST_F(JobValidation, W4_RequiresImage) {
  text::Set(job_, {"spec", "pytorchReplicaSpecs", "Worker"},
            Replica(1, {Container("pytorch", "")}));
  EXPECT_EQ(Errors(), (Strings{"spec.pytorchReplicaSpecs[Worker].template.spec.containers[0].image:"
                               " Required value: must be required"}));
}

TEST_F(JobValidation, W5_RequiresContainerNamedPytorch) {
  text::Set(job_, {"spec", "pytorchReplicaSpecs", "Worker"}, Replica(1, {Container("")}));
  EXPECT_EQ(Errors(), (Strings{"spec.pytorchReplicaSpecs[Worker].template.spec.containers: Required"
                               " value: must have at least one container with name pytorch"}));
}

TEST_F(JobValidation, W6_RefusesTwoMasters) {
  text::Set(job_, {"spec", "pytorchReplicaSpecs", "Master", "replicas"}, 2);
  EXPECT_EQ(Errors(), (Strings{"spec.pytorchReplicaSpecs[Master].replicas: Forbidden: must be 1"}));
}

TEST_F(JobValidation, W7_WarnsOfDeprecatedNproc) {
  text::Set(job_, {"spec", "elasticPolicy", "nProcPerNode"}, 1);
  EXPECT_EQ(Errors(), Strings());
  EXPECT_EQ(Warnings(), (Strings{"spec.elasticPolicy.nProcPerNode is deprecated, use "
                                 "spec.nprocPerNode instead"}));
}

TEST_F(JobValidation, W9_RefusesOtherManager) {
  for (const std::string_view manager : {"other-job-controller", ""}) {
    text::Set(job_, {"spec", "runPolicy", "managedBy"}, text::Json(manager));
    ASSERT_EQ(Errors().size(), 1U) << manager;
    EXPECT_TRUE(Errors()[0].starts_with("spec.runPolicy.managedBy: Unsupported value: "));
  }
}

TEST_F(JobValidation, W10_RefusesChangeOfManager) {
  text::Json old = job_;
  text::Set(old, {"spec", "runPolicy", "managedBy"}, text::Json(kManagedByUs));
  text::Set(job_, {"spec", "runPolicy", "managedBy"}, text::Json(kManagedByMultiKueue));
  EXPECT_EQ(
      ValidatePyTorchJob(job_, &old).errors,
      (Strings{"spec.runPolicy.managedBy: Invalid value: \"kueue.x-k8s.io/multikueue\": field "
               "is immutable"}));
  text::Erase(job_, {"spec", "runPolicy", "managedBy"});
  EXPECT_EQ(ValidatePyTorchJob(job_, &old).errors,
            (Strings{"spec.runPolicy.managedBy: Invalid value: \"null\": field is immutable"}));
  EXPECT_EQ(ValidatePyTorchJob(old, &old).errors, Strings());
}

TEST_F(JobValidation, W11_RequiresWorkerForElasticPolicy) {
  text::Erase(job_, {"spec", "pytorchReplicaSpecs", "Worker"});
  text::Set(job_, {"spec", "elasticPolicy"}, text::Object());
  EXPECT_EQ(Errors(), (Strings{"spec.pytorchReplicaSpecs[Worker]: Required value: must be "
                               "configured if elastic policy is used"}));
}

TEST_F(JobValidation, W12_RefusesNoWorkers) {
  text::Set(job_, {"spec", "pytorchReplicaSpecs", "Worker", "replicas"}, 0);
  EXPECT_EQ(Errors(),
            (Strings{"spec.pytorchReplicaSpecs[Worker].replicas: Forbidden: must be at least 1"}));
}

TEST_F(JobValidation, ReportsErrorsInTheOriginalsOrder) {
  text::Set(job_, {"metadata", "name"}, text::Json(std::string(64, 'A')));
  text::Set(job_, {"spec", "runPolicy", "managedBy"}, "x");
  text::Erase(job_, {"spec", "pytorchReplicaSpecs", "Worker"});
  text::Set(job_, {"spec", "elasticPolicy", "nProcPerNode"}, 2);
  text::Set(job_, {"spec", "nprocPerNode"}, "2");
  text::Set(job_, {"spec", "pytorchReplicaSpecs", "Master", "replicas"}, 3);
  const Strings errors = Errors();
  ASSERT_EQ(errors.size(), 5U);
  EXPECT_NE(errors[0].find("must be no more than 63 characters,a DNS-1035"), std::string::npos);
  EXPECT_TRUE(errors[1].starts_with("spec.runPolicy.managedBy"));
  EXPECT_TRUE(errors[2].starts_with("spec.pytorchReplicaSpecs[Worker]: Required"));
  EXPECT_TRUE(errors[3].starts_with("spec.elasticPolicy.nProcPerNode"));
  EXPECT_TRUE(errors[4].starts_with("spec.pytorchReplicaSpecs[Master].replicas"));
}

TEST_F(JobValidation, JoinsErrorsOnce) {
  EXPECT_EQ(JoinErrors({"a"}), "a");
  EXPECT_EQ(JoinErrors({"a", "b", "a"}), "[a, b]");
  EXPECT_EQ(JoinErrors({"a", "a"}), "a");
}

constexpr std::string_view kNotChecked =
    "<nil>: Invalid value: \"null\": some validation rules were not checked because the object was "
    "invalid; correct the existing errors to complete validation";

TEST_F(JobValidation, SchemaNamesMissingAndMistypedFields) {
  text::Json& containers =
      text::Ensure(job_, {"spec", "pytorchReplicaSpecs", "Master", "template", "spec"});
  containers = {{"containers", {{{"image", "i"}, {"command", "x"}, {"args", {1}}}}}};
  text::Set(job_, {"spec", "runPolicy", "backoffLimit"}, "3");
  text::Set(job_, {"spec", "runPolicy", "suspend"}, "yes");
  text::Set(job_, {"spec", "pytorchReplicaSpecs", "Worker", "replicas"}, true);
  const std::string pod = "spec.pytorchReplicaSpecs.Master.template.spec";
  EXPECT_EQ(
      Causes(),
      (Strings{
          pod + ".containers[0].name: Required value",
          pod + ".containers[0].args[0]: Invalid value: \"integer\": " + pod +
              ".containers[0].args[0] in body must be of type string: \"integer\"",
          pod + ".containers[0].command: Invalid value: \"string\": " + pod +
              ".containers[0].command in body must be of type array: \"string\"",
          "spec.pytorchReplicaSpecs.Worker.replicas: Invalid value: \"boolean\": "
          "spec.pytorchReplicaSpecs.Worker.replicas in body must be of type integer: \"boolean\"",
          "spec.runPolicy.backoffLimit: Invalid value: \"string\": "
          "spec.runPolicy.backoffLimit in body must be of type integer: \"string\"",
          "spec.runPolicy.suspend: Invalid value: \"string\": "
          "spec.runPolicy.suspend in body must be of type boolean: \"string\"",
          std::string(kNotChecked)}));
}

TEST_F(JobValidation, SchemaLetsUnknownFieldsNullsAndWholeDoublesPass) {
  text::Set(job_, {"spec", "novelty", "of"}, 2031);
  text::Set(job_, {"spec", "nprocPerNode"}, nullptr);
  text::Set(job_, {"spec", "runPolicy", "backoffLimit"}, 3.0);
  text::Set(job_, {"spec", "runPolicy", "activeDeadlineSeconds"}, uint64_t{5});
  EXPECT_EQ(Causes(), Strings());
}

TEST_F(JobValidation, SchemaDefaultsFillOnlyWhatTheCrdFills) {
  text::Json& containers =
      text::Ensure(job_, {"spec", "pytorchReplicaSpecs", "Master", "template", "spec"});
  containers = {{"containers",
                 {{{"name", "pytorch"},
                   {"ports", {{{"containerPort", 1}}, {{"containerPort", 2}, {"protocol", "UDP"}}}},
                   {"env", nullptr}}}}};
  text::Set(job_, {"spec", "pytorchReplicaSpecs", "Worker"}, nullptr);
  text::Json without_policy = job_;
  ApplySchemaDefaults(without_policy);
  EXPECT_EQ(text::ToJson(*text::Find(without_policy, {"spec"})),
            R"({"pytorchReplicaSpecs":{"Master":{"replicas":1,"template":{"spec":{"containers":[)"
            R"({"name":"pytorch","ports":[{"containerPort":1,"protocol":"TCP"},)"
            R"({"containerPort":2,"protocol":"UDP"}]}]}}}}})");
  text::Set(job_, {"spec", "runPolicy", "suspend"}, nullptr);
  ApplySchemaDefaults(job_);
  EXPECT_EQ(text::GetBool(job_, {"spec", "runPolicy", "suspend"}), false);
}

TEST_F(JobValidation, SchemaChecksQuantities) {
  const text::Path resources = {"spec", "runPolicy", "schedulingPolicy", "minResources"};
  text::Set(job_, resources, {{"cpu", 2}, {"memory", "1.5Gi"}, {"nvidia.com/gpu", "8"}});
  EXPECT_EQ(Causes(), Strings());
  text::Set(job_, resources, {{"cpu", "many"}});
  const std::string path = "spec.runPolicy.schedulingPolicy.minResources.cpu";
  EXPECT_EQ(
      Causes(),
      (Strings{path + ": Invalid value: \"many\": " + path +
               " in body should match '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|"
               "[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$'"}));
  text::Set(job_, resources, {{"cpu", 1.5}});
  EXPECT_EQ(Causes(), (Strings{path + ": Invalid value: \"number\": " + path +
                                   " in body must be of type integer,string: \"number\"",
                               "<nil>: Invalid value: \"\": \"" + path +
                                   "\" must validate at least one schema (anyOf)",
                               path + ": Invalid value: \"number\": " + path +
                                   " in body must be of type integer: \"number\"",
                               std::string(kNotChecked)}));
}

TEST_F(JobValidation, SchemaRefusesContainersOfOneName) {
  text::Set(job_, {"spec", "pytorchReplicaSpecs", "Worker"},
            Replica(1, {Container(), Container()}));
  EXPECT_EQ(Causes(), (Strings{"spec.pytorchReplicaSpecs[Worker].template.spec.containers[1]: "
                               "Duplicate value: map[string]interface {}{\"name\":\"pytorch\"}"}));
}

TEST_F(JobValidation, SchemaGuardsTheQueueOnceSet) {
  const text::Json old = job_;
  text::Set(job_, {"spec", "runPolicy", "schedulingPolicy", "queue"}, "first");
  EXPECT_EQ(CheckPyTorchJobSchema(job_, &old), Strings());
  text::Json changed = job_;
  text::Set(changed, {"spec", "runPolicy", "schedulingPolicy", "queue"}, "second");
  EXPECT_EQ(CheckPyTorchJobSchema(changed, &job_),
            (Strings{"spec.runPolicy.schedulingPolicy.queue: Invalid value: \"string\": "
                     "spec.runPolicy.schedulingPolicy.queue is immutable"}));
}

TEST_F(JobValidation, SchemaRefusesWhatIsNoObject) {
  EXPECT_FALSE(CheckPyTorchJobSchema("job", nullptr).empty());
  text::Set(job_, {"spec"}, "x");
  EXPECT_EQ(Causes().front(),
            "spec: Invalid value: \"string\": spec in body must be of type object: \"string\"");
}

}  // namespace
}  // namespace api
