#include "api/job/pytorch_job.h"

#include <gtest/gtest.h>

#include "api/names.h"
#include "api/testing/parsed.h"
#include "text/yaml.h"

namespace api {
namespace {

PyTorchJob MustParse(const text::Json& object) {
  auto job = ParsePyTorchJob(object);
  EXPECT_TRUE(job) << (job ? "" : job.error().message);
  return job ? std::move(*job) : PyTorchJob();
}

PyTorchJob WithWorkers(int replicas) {
  PyTorchJob job;
  job.name = "j";
  job.replica_specs["Worker"].replicas = replicas;
  return job;
}

TEST(PyTorchJobParse, ReadsEveryModelledField) {
  const PyTorchJob job = MustParse(Parsed(R"({
    "metadata": {"name": "j", "namespace": "n", "uid": "u", "resourceVersion": "7",
                 "labels": {"a": "b"}, "annotations": {"c": "d"},
                 "deletionTimestamp": "2026-07-30T10:00:00Z"},
    "spec": {
      "nprocPerNode": "gpu",
      "pytorchReplicaSpecs": {
        "Master": {"replicas": 1, "restartPolicy": "ExitCode",
                   "template": {"spec": {"containers": [], "novelty": {"x": 1}}}},
        "Worker": {"replicas": 3.0}},
      "elasticPolicy": {"minReplicas": 1, "maxReplicas": 3, "rdzvBackend": "c10d", "rdzvPort": 29400,
        "rdzvHost": "h", "rdzvId": "i", "rdzvConf": [{"key": "k", "value": "v"}, {"key": "l"}],
        "standalone": true, "nProcPerNode": 2, "maxRestarts": 5, "metrics": [{"type": "Resource"}]},
      "runPolicy": {"cleanPodPolicy": "All", "ttlSecondsAfterFinished": 3,
        "activeDeadlineSeconds": 5000000000, "backoffLimit": 4, "suspend": true,
        "managedBy": "kubeflow.org/training-operator",
        "schedulingPolicy": {"minAvailable": 2, "queue": "q", "minResources": {"cpu": 1},
          "priorityClass": "high", "scheduleTimeoutSeconds": 60}}}})"));
  EXPECT_EQ(job.name, "j");
  EXPECT_EQ(job.namespace_name, "n");
  EXPECT_EQ(job.uid, "u");
  EXPECT_EQ(job.resource_version, "7");
  EXPECT_TRUE(job.is_deleting);
  EXPECT_EQ(job.labels.at("a"), "b");
  EXPECT_EQ(job.annotations.at("c"), "d");
  EXPECT_EQ(job.nproc_per_node, "gpu");
  ASSERT_NE(job.Master(), nullptr);
  EXPECT_EQ(job.Master()->Policy(), RestartPolicy::kExitCode);
  EXPECT_EQ(text::GetInt(job.Master()->template_json, {"spec", "novelty", "x"}), 1);
  EXPECT_EQ(job.Worker()->Replicas(), 3);
  EXPECT_EQ(job.TotalReplicas(), 4);
  ASSERT_TRUE(job.elastic_policy);
  const ElasticPolicy& elastic = *job.elastic_policy;
  EXPECT_EQ(elastic.min_replicas, 1);
  EXPECT_EQ(elastic.max_replicas, 3);
  EXPECT_EQ(elastic.rdzv_backend, "c10d");
  EXPECT_EQ(elastic.rdzv_port, 29400);
  EXPECT_EQ(elastic.rdzv_host, "h");
  EXPECT_EQ(elastic.rdzv_id, "i");
  EXPECT_EQ(elastic.rdzv_conf,
            (std::vector<std::pair<std::string, std::string>>{{"k", "v"}, {"l", ""}}));
  EXPECT_TRUE(elastic.standalone);
  EXPECT_EQ(elastic.nproc_per_node, 2);
  EXPECT_EQ(elastic.max_restarts, 5);
  ASSERT_TRUE(elastic.metrics);
  EXPECT_EQ(elastic.metrics->as_array().size(), 1U);
  const RunPolicy& policy = job.run_policy;
  EXPECT_EQ(policy.Clean(), CleanPodPolicy::kAll);
  EXPECT_EQ(policy.ttl_seconds_after_finished, 3);
  EXPECT_EQ(policy.active_deadline_seconds, 5000000000);
  EXPECT_EQ(policy.backoff_limit, 4);
  EXPECT_TRUE(policy.suspend);
  EXPECT_EQ(policy.managed_by, kManagedByUs);
  ASSERT_TRUE(policy.scheduling_policy);
  EXPECT_EQ(policy.scheduling_policy->min_available, 2);
  EXPECT_EQ(policy.scheduling_policy->queue, "q");
  EXPECT_EQ(policy.scheduling_policy->priority_class, "high");
  EXPECT_EQ(policy.scheduling_policy->schedule_timeout_seconds, 60);
}

TEST(PyTorchJobParse, S1_SuspendsOnlyWhenToldTo) {
  EXPECT_FALSE(MustParse(Parsed(R"({"spec": {}})")).run_policy.suspend);
  EXPECT_FALSE(MustParse(Parsed(R"({"spec": {"runPolicy": {}}})")).run_policy.suspend);
  EXPECT_FALSE(
      MustParse(Parsed(R"({"spec": {"runPolicy": {"suspend": false}}})")).run_policy.suspend);
  EXPECT_TRUE(
      MustParse(Parsed(R"({"spec": {"runPolicy": {"suspend": true}}})")).run_policy.suspend);
}

TEST(PyTorchJobParse, NullIsAbsent) {
  const PyTorchJob job = MustParse(Parsed(
      R"({"spec": {"pytorchReplicaSpecs": {"Master": null, "Worker": {"template": null}},
          "elasticPolicy": null, "nprocPerNode": null}})"));
  EXPECT_EQ(job.Master(), nullptr);
  ASSERT_NE(job.Worker(), nullptr);
  EXPECT_FALSE(job.elastic_policy);
  EXPECT_FALSE(job.nproc_per_node);
}

TEST(PyTorchJobParse, NamesTheFieldOfAWrongType) {
  constexpr std::pair<std::string_view, std::string_view> kCases[] = {
      {R"("x")", ": must be an object, not string"},
      {R"({"metadata": {"name": 3}})", "metadata.name: must be a string, not integer"},
      {R"({"metadata": {"labels": {"a": true}}})",
       "metadata.labels.a: must be a string, not boolean"},
      {R"({"spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": "2"}}}})",
       "spec.pytorchReplicaSpecs[Worker].replicas: must be an integer, not string"},
      {R"({"spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": 1.5}}}})",
       "spec.pytorchReplicaSpecs[Worker].replicas: must be an integer, not number"},
      {R"({"spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": 3000000000}}}})",
       "spec.pytorchReplicaSpecs[Worker].replicas: 3000000000 is out of range for a 32-bit "
       "integer"},
      {R"({"spec": {"runPolicy": {"activeDeadlineSeconds": 18446744073709551615}}})",
       "spec.runPolicy.activeDeadlineSeconds: is out of range"},
      {R"({"spec": {"elasticPolicy": {"rdzvConf": [{"key": 1}]}}})",
       "spec.elasticPolicy.rdzvConf[0].key: must be a string, not integer"},
      {R"({"spec": {"elasticPolicy": {"metrics": {}}}})",
       "spec.elasticPolicy.metrics: must be an array, not object"},
      {R"({"status": {"startTime": "noon"}})", "status.startTime: "},
      {R"({"status": {"conditions": [{"type": []}]}})",
       "status.conditions[0].type: must be a string, not array"},
  };
  for (const auto& [json, message] : kCases) {
    const auto job = ParsePyTorchJob(Parsed(json));
    ASSERT_FALSE(job) << json;
    EXPECT_EQ(job.error().code, base::Code::kInvalidArgument);
    EXPECT_TRUE(job.error().message.starts_with(message)) << job.error().message;
  }
}

TEST(PyTorchJobParse, PoliciesKeepUnknownWords) {
  ReplicaSpec spec;
  EXPECT_EQ(spec.Policy(), RestartPolicy::kOnFailure);
  spec.restart_policy = "Sometimes";
  EXPECT_EQ(spec.Policy(), RestartPolicy::kUnknown);
  RunPolicy policy;
  EXPECT_EQ(policy.Clean(), CleanPodPolicy::kNone);
  policy.clean_pod_policy = "Maybe";
  EXPECT_EQ(policy.Clean(), CleanPodPolicy::kUnknown);
}

TEST(PyTorchJobParse, YamlAndBackKeepsUnknownFields) {
  const text::Json job = Parsed(R"({
    "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "j"},
    "spec": {"novelty": [1, 2.5, "on", null, {"deep": ""}],
      "pytorchReplicaSpecs": {"Master": {"replicas": 1, "template": {"spec": {
        "containers": [{"name": "pytorch", "args": ["--lr=1e-3", "0755", "multi\nline\n"]}],
        "topologySpreadConstraints": [{"maxSkew": 1}]}}}}}})");
  const auto again = text::ParseYaml(text::ToYaml(job));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, job);
  const PyTorchJob parsed = MustParse(*again);
  EXPECT_NE(text::Find(parsed.Master()->template_json, {"spec", "topologySpreadConstraints"}),
            nullptr);
}

constexpr std::string_view kStatus =
    R"({"conditions":[{"type":"Created","status":"True","reason":"PyTorchJobCreated",)"
    R"("message":"PyTorchJob j is created.","lastUpdateTime":"2026-07-30T10:00:00Z",)"
    R"("lastTransitionTime":"2026-07-30T10:00:00Z"},{"type":"Running","status":"True"}],)"
    R"("replicaStatuses":{"Master":{"active":1,"selector":"a=b"},"Worker":{"failed":2}},)"
    R"("startTime":"2026-07-30T10:00:01Z","lastReconcileTime":"2026-07-30T10:00:02Z",)"
    R"("novelty":{"x":[1]}})";

TEST(JobStatus, RoundTripKeepsOrderAndUnknownFields) {
  const auto status = ParseJobStatus(Parsed(kStatus));
  ASSERT_TRUE(status);
  EXPECT_EQ(text::ToJson(StatusToJson(*status)), kStatus);
  EXPECT_EQ(status->replica_statuses.at("Master"), (ReplicaStatus{1, 0, 0, "a=b"}));
  EXPECT_FALSE(status->completion_time);
  EXPECT_EQ(text::ToJson(StatusToJson({})), "{}");
}

TEST(JobStatus, T1_IsFinishedWhenSucceededOrFailed) {
  for (const auto& [type, is_finished] :
       {std::pair("Succeeded", true), {"Failed", true}, {"Suspended", false}, {"Running", false}}) {
    JobStatus status;
    status.conditions.push_back({type, "True", "", "", {}, {}});
    EXPECT_EQ(status.IsFinished(), is_finished) << type;
  }
}

TEST(JobStatus, T2_IsWhatATrueConditionSays) {
  JobStatus status;
  status.conditions.push_back({"Running", "False", "", "", {}, {}});
  EXPECT_FALSE(status.Is("Running"));
  ASSERT_NE(status.Find("Running"), nullptr);
  EXPECT_EQ(status.Find("Failed"), nullptr);
  status.conditions[0].status = "True";
  EXPECT_TRUE(status.Is("Running"));
}

TEST(JobDefaults, D1_ElasticBoundsAreTheWorkers) {
  PyTorchJob job = WithWorkers(1);
  job.elastic_policy.emplace();
  SetDefaults(job);
  EXPECT_EQ(job.elastic_policy->min_replicas, 1);
  EXPECT_EQ(job.elastic_policy->max_replicas, 1);
}

TEST(JobDefaults, D2_GivenBoundsStay) {
  PyTorchJob job = WithWorkers(5);
  job.elastic_policy.emplace();
  job.elastic_policy->min_replicas = 1;
  job.elastic_policy->max_replicas = 1;
  SetDefaults(job);
  EXPECT_EQ(job.elastic_policy->min_replicas, 1);
  EXPECT_EQ(job.elastic_policy->max_replicas, 1);
}

TEST(JobDefaults, D5_OneBoundIsTheOther) {
  PyTorchJob job = WithWorkers(5);
  job.elastic_policy.emplace();
  job.elastic_policy->min_replicas = 1;
  SetDefaults(job);
  EXPECT_EQ(job.elastic_policy->max_replicas, 1);
  job.elastic_policy->min_replicas.reset();
  job.elastic_policy->max_replicas = 4;
  SetDefaults(job);
  EXPECT_EQ(job.elastic_policy->min_replicas, 4);
}

TEST(JobDefaults, D6_D7_NprocIsAutoUnlessTheOldFieldIsSet) {
  PyTorchJob job = WithWorkers(1);
  SetDefaults(job);
  EXPECT_EQ(job.nproc_per_node, "auto");
  job = WithWorkers(1);
  job.elastic_policy.emplace();
  SetDefaults(job);
  EXPECT_EQ(job.nproc_per_node, "auto");
  job = WithWorkers(1);
  job.elastic_policy.emplace().nproc_per_node = 2;
  SetDefaults(job);
  EXPECT_FALSE(job.nproc_per_node);
}

TEST(JobDefaults, FillsReplicasPoliciesAndTypes) {
  PyTorchJob job;
  job.replica_specs["master"];
  job.replica_specs["WORKER"];
  SetDefaults(job);
  ASSERT_NE(job.Master(), nullptr);
  ASSERT_NE(job.Worker(), nullptr);
  EXPECT_EQ(job.replica_specs.size(), 2U);
  EXPECT_EQ(job.Worker()->replicas, 1);
  EXPECT_EQ(job.Worker()->restart_policy, "OnFailure");
  EXPECT_EQ(job.run_policy.clean_pod_policy, "None");
}

std::string PortsAfterDefaults(std::string_view containers) {
  PyTorchJob job;
  ReplicaSpec& spec = job.replica_specs["Master"];
  text::Set(spec.template_json, {"spec", "containers"}, Parsed(containers));
  SetDefaults(job);
  SetDefaults(job);
  return text::ToJson(*text::Find(job.Master()->template_json, {"spec", "containers"}));
}

TEST(JobDefaults, AddsThePortOnceToTheMainContainer) {
  EXPECT_EQ(PortsAfterDefaults(R"([{"name":"side"},{"name":"pytorch"}])"),
            R"([{"name":"side"},{"name":"pytorch","ports":[{"name":"pytorchjob-port",)"
            R"("containerPort":23456}]}])");
  EXPECT_EQ(PortsAfterDefaults(R"([{"name":"a","ports":[{"containerPort":80}]},{"name":"b"}])"),
            R"([{"name":"a","ports":[{"containerPort":80},{"name":"pytorchjob-port",)"
            R"("containerPort":23456}]},{"name":"b"}])");
  const std::string_view named =
      R"([{"name":"pytorch","ports":[{"name":"pytorchjob-port","containerPort":8080}]}])";
  EXPECT_EQ(PortsAfterDefaults(named), named);
  EXPECT_EQ(PortsAfterDefaults("[]"), "[]");
}

TEST(ReplicaName, LowersTheTypeAndReplacesSlashes) {
  EXPECT_EQ(ReplicaName("1/2/3/4/5", "worker", 1), "1-2-3-4-5-worker-1");
  EXPECT_EQ(ReplicaName("1/2/3/4/5", "WORKER", 1), "1-2-3-4-5-worker-1");
  EXPECT_EQ(ReplicaName("pt", kMaster, 0), "pt-master-0");
}

}  // namespace
}  // namespace api
