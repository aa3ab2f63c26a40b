#include "ads/run/pytorch_job.h"

#include <gtest/gtest.h>

#include "ads/testing/train_yaml.h"

namespace ads {
namespace {

TEST(PyTorchJob_Render, GivesEachRoleTheServicesEnvironment) {
  TrainYaml yaml;
  yaml.cluster += "      config: {env: [{name: X, value: 'a$(B)'}]}\n";
  const auto config = ReadTrainConfig(yaml.Text(), "t.yaml", {});
  ASSERT_TRUE(config) << config.error().message;
  const JobSpec job = MakeJobSpec(*config, "img:1", "");
  const LoginFlags login;
  const RunRequest request{*config, job, login, "", "/src"};
  OrderedEnv extra;
  extra.Set("OCI__WORK_DIR", "file:///w");
  const text::Json object =
      RenderPyTorchJob(request, {"training-abc", "ns", "img:1", {"run"}, 2, extra});
  const auto role = [&](std::string_view type) {
    const text::Json* spec = text::Find(object, {"spec", "pytorchReplicaSpecs", type});
    return *spec;
  };
  EXPECT_EQ(text::GetInt(role("Worker"), {"replicas"}), 2);
  const text::Json container =
      text::FindArray(role("Worker"), {"template", "spec", "containers"})->at(0);
  EXPECT_EQ(text::GetString(container, {"resources", "limits", "nvidia.com/gpu"}), "2");
  EXPECT_EQ(
      text::ToJson(container.at("env")),
      R"env([{"name":"X","value":"a$$(B)"},{"name":"OCI__WORK_DIR","value":"file:///w"},)env"
      R"env({"name":"OCI__EPHEMERAL","value":"None"},)env"
      R"env({"name":"OCI__CLUSTER_TYPE","value":"PYTORCH"},)env"
      R"env({"name":"OCI__WORKER_COUNT","value":"2"},{"name":"OCI__START_ARGS","value":""},)env"
      R"env({"name":"OCI__ENTRY_SCRIPT","value":"train.py"},)env"
      R"env({"name":"OCI__ENTRY_SCRIPT_ARGS","value":"--a 1"},)env"
      R"env({"name":"JOB_OCID","value":"training-abc"},{"name":"OCI__MODE","value":"WORKER"},)env"
      R"env({"name":"JOB_RUN_OCID","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}])env");
}

TEST(PyTorchJob_Names, AreWhatKubernetesTakes) {
  EXPECT_EQ(ObjectName("PyTorch-Distributed", "abc"), "pytorch-distributed-abc");
  EXPECT_EQ(ObjectName("my cluster_2!", "x"), "my-cluster-2-x");
  EXPECT_EQ(ObjectName("2nd", "x"), "job-2nd-x");
  EXPECT_EQ(ObjectName("", "x"), "job-x");
  EXPECT_LE(ObjectName(std::string(200, 'a'), "abcde").size(), 40U);
}

TEST(PyTorchJob_Gpus, FollowTheShape) {
  EXPECT_EQ(GpusOfShape("VM.GPU2.1"), 1);
  EXPECT_EQ(GpusOfShape("BM.GPU4.8"), 8);
  EXPECT_EQ(GpusOfShape("VM.GPU.A10.2"), 2);
  EXPECT_EQ(GpusOfShape("VM.Standard.E3.Flex"), 0);
  EXPECT_EQ(GpusOfShape(""), 0);
}

}  // namespace
}  // namespace ads
