#include "reconcile/pod/environment.h"

#include <gtest/gtest.h>

#include "reconcile/testing/fake_cluster.h"

namespace reconcile {
namespace {

constexpr std::string_view kToken = "MUSTER_RDZV_TOKEN=uid-of-j ";

// "NAME=value NAME=value" in the order of injection, without the token, which v1 does not have.
std::string EnvOf(const text::Json& pod, size_t container = 0) {
  std::string all;
  const text::Json& spec = text::Find(pod, {"spec", "containers"})->at(container);
  for (const text::Json& entry : *text::FindArray(spec, {"env"})) {
    if (!all.empty()) all += ' ';
    all += text::GetString(entry, {"name"});
    all += '=';
    all += text::GetString(entry, {"value"});
  }
  return all.starts_with(kToken) ? all.substr(kToken.size()) : all;
}

struct Mode {
  const char* name;
  TestJob job;
  std::map<std::string, std::string> environment;
};

// Golden `env_modes`: what v1 injects, in the same order.
std::vector<Mode> GoldenModes() {
  return {
      {"nproc=4",
       {.spec = R"({"nprocPerNode":"4"})"},
       {{"j-master-0",
         "PYTHONUNBUFFERED=1 MASTER_PORT=23456 PET_MASTER_PORT=23456 "
         "MASTER_ADDR=j-master-0 PET_MASTER_ADDR=j-master-0 WORLD_SIZE=12 RANK=0 "
         "PET_NODE_RANK=0 PET_NPROC_PER_NODE=4 PET_NNODES=3"},
        {"j-worker-0",
         "PYTHONUNBUFFERED=1 MASTER_PORT=23456 PET_MASTER_PORT=23456 "
         "MASTER_ADDR=j-master-0 PET_MASTER_ADDR=j-master-0 WORLD_SIZE=12 RANK=1 "
         "PET_NODE_RANK=1 PET_NPROC_PER_NODE=4 PET_NNODES=3"},
        {"j-worker-1",
         "PYTHONUNBUFFERED=1 MASTER_PORT=23456 PET_MASTER_PORT=23456 "
         "MASTER_ADDR=j-master-0 PET_MASTER_ADDR=j-master-0 WORLD_SIZE=12 RANK=2 "
         "PET_NODE_RANK=2 PET_NPROC_PER_NODE=4 PET_NNODES=3"}}},
      {"nproc=gpu",
       {.spec = R"({"nprocPerNode":"gpu"})"},
       {{"j-master-0",
         "PYTHONUNBUFFERED=1 MASTER_PORT=23456 PET_MASTER_PORT=23456 "
         "MASTER_ADDR=j-master-0 PET_MASTER_ADDR=j-master-0 WORLD_SIZE=3 RANK=0 "
         "PET_NODE_RANK=0 PET_NPROC_PER_NODE=gpu PET_NNODES=3"},
        {"j-worker-0",
         "PYTHONUNBUFFERED=1 MASTER_PORT=23456 PET_MASTER_PORT=23456 "
         "MASTER_ADDR=j-master-0 PET_MASTER_ADDR=j-master-0 WORLD_SIZE=3 RANK=1 "
         "PET_NODE_RANK=1 PET_NPROC_PER_NODE=gpu PET_NNODES=3"},
        {"j-worker-1",
         "PYTHONUNBUFFERED=1 MASTER_PORT=23456 PET_MASTER_PORT=23456 "
         "MASTER_ADDR=j-master-0 PET_MASTER_ADDR=j-master-0 WORLD_SIZE=3 RANK=2 "
         "PET_NODE_RANK=2 PET_NPROC_PER_NODE=gpu PET_NNODES=3"}}},
      {"worker-only",
       {.has_master = false},
       {{"j-worker-0", "PYTHONUNBUFFERED=1 PET_NPROC_PER_NODE=auto PET_NNODES=2"},
        {"j-worker-1", "PYTHONUNBUFFERED=1 PET_NPROC_PER_NODE=auto PET_NNODES=2"}}},
      {"master-only",
       {.workers = -1},
       {{"j-master-0",
         "PYTHONUNBUFFERED=1 MASTER_PORT=23456 PET_MASTER_PORT=23456 "
         "MASTER_ADDR=j-master-0 PET_MASTER_ADDR=j-master-0 WORLD_SIZE=1 RANK=0 "
         "PET_NODE_RANK=0 PET_NPROC_PER_NODE=auto PET_NNODES=1"}}},
      {"elastic",
       {.has_master = false,
        .spec = R"({"elasticPolicy":{"minReplicas":1,"maxReplicas":3,"maxRestarts":5,
           "rdzvBackend":"c10d","rdzvId":"rid","rdzvConf":[{"key":"a","value":"b"},
           {"key":"c","value":"d"}],"standalone":true}})"},
       {{"j-worker-0",
         "PYTHONUNBUFFERED=1 PET_NPROC_PER_NODE=auto PET_RDZV_ENDPOINT=j-worker-0:23456 "
         "PET_RDZV_BACKEND=c10d PET_NNODES=1:3 PET_MAX_RESTARTS=5 PET_RDZV_ID=rid "
         "PET_RDZV_CONF=a=b,c=d PET_STANDALONE="},
        {"j-worker-1",
         "PYTHONUNBUFFERED=1 PET_NPROC_PER_NODE=auto PET_RDZV_ENDPOINT=j-worker-0:23456 "
         "PET_RDZV_BACKEND=c10d PET_NNODES=1:3 PET_MAX_RESTARTS=5 PET_RDZV_ID=rid "
         "PET_RDZV_CONF=a=b,c=d PET_STANDALONE="}}},
      {"elastic-empty",
       {.has_master = false, .spec = R"({"elasticPolicy":{}})"},
       {{"j-worker-0",
         "PYTHONUNBUFFERED=1 PET_NPROC_PER_NODE=auto PET_RDZV_ENDPOINT=j-worker-0:23456 "
         "PET_RDZV_BACKEND=c10d PET_NNODES=2:2"},
        {"j-worker-1",
         "PYTHONUNBUFFERED=1 PET_NPROC_PER_NODE=auto PET_RDZV_ENDPOINT=j-worker-0:23456 "
         "PET_RDZV_BACKEND=c10d PET_NNODES=2:2"}}},
      {"elastic-min-only",
       {.has_master = false, .spec = R"({"elasticPolicy":{"minReplicas":2}})"},
       {{"j-worker-0",
         "PYTHONUNBUFFERED=1 PET_NPROC_PER_NODE=auto PET_RDZV_ENDPOINT=j-worker-0:23456 "
         "PET_RDZV_BACKEND=c10d PET_NNODES=2:2"},
        {"j-worker-1",
         "PYTHONUNBUFFERED=1 PET_NPROC_PER_NODE=auto PET_RDZV_ENDPOINT=j-worker-0:23456 "
         "PET_RDZV_BACKEND=c10d PET_NNODES=2:2"}}},
      {"elastic-etcd-host-port",
       {.has_master = false,
        .spec = R"({"elasticPolicy":{"rdzvBackend":"etcd","rdzvHost":"etcd.svc",
           "rdzvPort":2379}})"},
       {{"j-worker-0",
         "PYTHONUNBUFFERED=1 PET_NPROC_PER_NODE=auto PET_RDZV_ENDPOINT=etcd.svc:2379 "
         "PET_RDZV_BACKEND=etcd PET_NNODES=2:2"},
        {"j-worker-1",
         "PYTHONUNBUFFERED=1 PET_NPROC_PER_NODE=auto PET_RDZV_ENDPOINT=etcd.svc:2379 "
         "PET_RDZV_BACKEND=etcd PET_NNODES=2:2"}}},
      {"elastic-master",
       {.spec = R"({"elasticPolicy":{"minReplicas":1,"maxReplicas":2},
           "nprocPerNode":"2"})"},
       {{"j-master-0",
         "PYTHONUNBUFFERED=1 MASTER_PORT=23456 PET_MASTER_PORT=23456 "
         "MASTER_ADDR=j-master-0 PET_MASTER_ADDR=j-master-0 WORLD_SIZE=6 RANK=0 "
         "PET_NODE_RANK=0 PET_NPROC_PER_NODE=2 PET_RDZV_ENDPOINT=j-worker-0:23456 "
         "PET_RDZV_BACKEND=c10d PET_NNODES=1:2"},
        {"j-worker-0",
         "PYTHONUNBUFFERED=1 MASTER_PORT=23456 PET_MASTER_PORT=23456 "
         "MASTER_ADDR=j-master-0 PET_MASTER_ADDR=j-master-0 WORLD_SIZE=6 RANK=1 "
         "PET_NODE_RANK=1 PET_NPROC_PER_NODE=2 PET_RDZV_ENDPOINT=j-worker-0:23456 "
         "PET_RDZV_BACKEND=c10d PET_NNODES=1:2"},
        {"j-worker-1",
         "PYTHONUNBUFFERED=1 MASTER_PORT=23456 PET_MASTER_PORT=23456 "
         "MASTER_ADDR=j-master-0 PET_MASTER_ADDR=j-master-0 WORLD_SIZE=6 RANK=2 "
         "PET_NODE_RANK=2 PET_NPROC_PER_NODE=2 PET_RDZV_ENDPOINT=j-worker-0:23456 "
         "PET_RDZV_BACKEND=c10d PET_NNODES=1:2"}}},
      {"elastic-deprecated-nproc",
       {.has_master = false, .spec = R"({"elasticPolicy":{"nProcPerNode":3}})"},
       {{"j-worker-0",
         "PYTHONUNBUFFERED=1 PET_RDZV_ENDPOINT=j-worker-0:23456 PET_RDZV_BACKEND=c10d "
         "PET_NNODES=2:2 PET_NPROC_PER_NODE=3"},
        {"j-worker-1",
         "PYTHONUNBUFFERED=1 PET_RDZV_ENDPOINT=j-worker-0:23456 PET_RDZV_BACKEND=c10d "
         "PET_NNODES=2:2 PET_NPROC_PER_NODE=3"}}},
      {"elastic-deprecated-nproc-master",
       {.spec = R"({"elasticPolicy":{"nProcPerNode":3}})"},
       {{"j-master-0",
         "PYTHONUNBUFFERED=1 MASTER_PORT=23456 PET_MASTER_PORT=23456 "
         "MASTER_ADDR=j-master-0 PET_MASTER_ADDR=j-master-0 WORLD_SIZE=3 RANK=0 "
         "PET_NODE_RANK=0 PET_RDZV_ENDPOINT=j-worker-0:23456 PET_RDZV_BACKEND=c10d "
         "PET_NNODES=2:2 PET_NPROC_PER_NODE=3"},
        {"j-worker-0",
         "PYTHONUNBUFFERED=1 MASTER_PORT=23456 PET_MASTER_PORT=23456 "
         "MASTER_ADDR=j-master-0 PET_MASTER_ADDR=j-master-0 WORLD_SIZE=3 RANK=1 "
         "PET_NODE_RANK=1 PET_RDZV_ENDPOINT=j-worker-0:23456 PET_RDZV_BACKEND=c10d "
         "PET_NNODES=2:2 PET_NPROC_PER_NODE=3"},
        {"j-worker-1",
         "PYTHONUNBUFFERED=1 MASTER_PORT=23456 PET_MASTER_PORT=23456 "
         "MASTER_ADDR=j-master-0 PET_MASTER_ADDR=j-master-0 WORLD_SIZE=3 RANK=2 "
         "PET_NODE_RANK=2 PET_RDZV_ENDPOINT=j-worker-0:23456 PET_RDZV_BACKEND=c10d "
         "PET_NNODES=2:2 PET_NPROC_PER_NODE=3"}}},
      {"custom-port",
       {.pod_template = R"({"spec":{"containers":[{"name":"pytorch","ports":[
           {"name":"pytorchjob-port","containerPort":29500},
           {"name":"http","containerPort":80}]}]}})"},
       {{"j-master-0",
         "PYTHONUNBUFFERED=1 MASTER_PORT=29500 PET_MASTER_PORT=29500 "
         "MASTER_ADDR=j-master-0 PET_MASTER_ADDR=j-master-0 WORLD_SIZE=3 RANK=0 "
         "PET_NODE_RANK=0 PET_NPROC_PER_NODE=auto PET_NNODES=3"},
        {"j-worker-0",
         "PYTHONUNBUFFERED=1 MASTER_PORT=29500 PET_MASTER_PORT=29500 "
         "MASTER_ADDR=j-master-0 PET_MASTER_ADDR=j-master-0 WORLD_SIZE=3 RANK=1 "
         "PET_NODE_RANK=1 PET_NPROC_PER_NODE=auto PET_NNODES=3"},
        {"j-worker-1",
         "PYTHONUNBUFFERED=1 MASTER_PORT=29500 PET_MASTER_PORT=29500 "
         "MASTER_ADDR=j-master-0 PET_MASTER_ADDR=j-master-0 WORLD_SIZE=3 RANK=2 "
         "PET_NODE_RANK=2 PET_NPROC_PER_NODE=auto PET_NNODES=3"}}},
  };
}

TEST(Environment, IsThatOfV1InEveryMode) {
  for (const Mode& mode : GoldenModes()) {
    SCOPED_TRACE(mode.name);
    FakeCluster cluster(mode.job);
    cluster.Settle();
    ASSERT_EQ(cluster.pods.size(), mode.environment.size());
    for (const auto& [pod, environment] : mode.environment) {
      EXPECT_EQ(EnvOf(cluster.pods.at(pod)), environment);
    }
  }
}

// Golden `basic`: appended after the user's variables in every container, so that ours win.
TEST(Environment, IsAppendedToEveryContainerButNotToInitContainers) {
  TestJob job;
  job.pod_template = R"({"spec":{"initContainers":[{"name":"i"}],"containers":[
      {"name":"pytorch","env":[{"name":"USER_VAR","value":"1"},
                               {"name":"WORLD_SIZE","value":"user"}]},{"name":"side"}]}})";
  FakeCluster cluster(job);
  cluster.Settle();
  const std::string injected =
      "PYTHONUNBUFFERED=1 MASTER_PORT=23456 PET_MASTER_PORT=23456 MASTER_ADDR=j-master-0 "
      "PET_MASTER_ADDR=j-master-0 WORLD_SIZE=3 RANK=0 PET_NODE_RANK=0 PET_NPROC_PER_NODE=auto "
      "PET_NNODES=3";
  const text::Json& pod = cluster.pods.at("j-master-0");
  EXPECT_EQ(EnvOf(pod, 0), "USER_VAR=1 WORLD_SIZE=user " + injected);
  EXPECT_EQ(EnvOf(pod, 1), injected);
  EXPECT_EQ(text::Find(pod, {"spec", "initContainers"})->at(0), Parse(R"({"name":"i"})"));
}

TEST(Environment, APodsOwnGraceIsToldToItsLauncher) {
  TestJob job;
  job.pod_template =
      R"({"spec":{"terminationGracePeriodSeconds":600,"containers":[{"name":"pytorch"}]}})";
  FakeCluster cluster(job);
  cluster.Settle();
  EXPECT_TRUE(EnvOf(cluster.pods.at("j-worker-1"), 0).starts_with("MUSTER_GRACE=600 "))
      << EnvOf(cluster.pods.at("j-worker-1"), 0);
}

TEST(Environment, ATokenThatOnlyTheJobsReadersKnowStandsBeforeTheUsersOwn) {
  TestJob job;
  job.pod_template = R"({"spec":{"containers":[
      {"name":"pytorch","env":[{"name":"MUSTER_RDZV_TOKEN","value":"mine"}]},{"name":"side"}]}})";
  FakeCluster cluster(job);
  cluster.Settle();
  for (const char* name : {"j-master-0", "j-worker-0", "j-worker-1"}) {
    const text::Json& containers = *text::Find(cluster.pods.at(name), {"spec", "containers"});
    for (const size_t container : {0, 1}) {
      const text::Array& env = *text::FindArray(containers.at(container), {"env"});
      EXPECT_EQ(env[0], Parse(R"({"name":"MUSTER_RDZV_TOKEN","value":"uid-of-j"})"));
      const bool is_users = text::GetString(env[1], {"name"}) == "MUSTER_RDZV_TOKEN";
      EXPECT_EQ(is_users, container == 0);
    }
  }
}

std::string Elastic(std::string_view policy, std::optional<int> port = std::nullopt) {
  TestJob built{.has_master = false};
  built.spec = R"({"elasticPolicy":)" + std::string(policy) + "}";
  auto job = api::ParsePyTorchJob(built.Build());
  api::SetDefaults(*job);
  text::Json pod;
  text::Object container;
  container["env"] = ElasticEnvironment(*job, port);
  text::Set(pod, {"spec", "containers"}, text::Array{std::move(container)});
  return EnvOf(pod);
}

TEST(Environment, ElasticAddsNothingWithoutThePolicy) {  // V1
  auto job = api::ParsePyTorchJob(TestJob{}.Build());
  EXPECT_TRUE(ElasticEnvironment(*job, std::nullopt).empty());
}

TEST(Environment, ElasticWithEverythingSet) {  // V2
  EXPECT_EQ(Elastic(R"({"minReplicas":1,"maxReplicas":3,"rdzvBackend":"c10d",
                "rdzvHost":"localhost","rdzvPort":1234,"rdzvId":"rdzv-id","maxRestarts":3,
                "rdzvConf":[{"key":"rdzv-conf-name","value":"rdzv-conf-value"},
                            {"key":"rdzv-conf-name-1","value":"rdzv-conf-value-1"}]})"),
            "PET_RDZV_ENDPOINT=localhost:1234 PET_RDZV_BACKEND=c10d PET_NNODES=1:3 "
            "PET_MAX_RESTARTS=3 PET_RDZV_ID=rdzv-id "
            "PET_RDZV_CONF=rdzv-conf-name=rdzv-conf-value,rdzv-conf-name-1=rdzv-conf-value-1");
}

TEST(Environment, AnEmptyRdzvConfIsUnset) {
  EXPECT_EQ(Elastic(R"({"rdzvConf":[]})"),
            "PET_RDZV_ENDPOINT=j-worker-0:23456 PET_RDZV_BACKEND=c10d PET_NNODES=2:2");
}

TEST(Environment, TheAssignedPortStandsInForTheWorkersButNotForRdzvPort) {
  EXPECT_EQ(Elastic("{}", 20001),
            "PET_RDZV_ENDPOINT=j-worker-0:20001 PET_RDZV_BACKEND=c10d PET_NNODES=2:2");
  EXPECT_EQ(Elastic(R"({"rdzvPort":7})", 20001),
            "PET_RDZV_ENDPOINT=j-worker-0:7 PET_RDZV_BACKEND=c10d PET_NNODES=2:2");
}

// E1 and E6: a port that the user's template names.
TEST(Environment, ThePortIsTheTemplates) {
  TestJob job{.has_master = false, .workers = 1};
  job.pod_template = R"({"spec":{"containers":[{"name":"pytorch","ports":[
      {"name":"pytorchjob-port","containerPort":8080}]}]}})";
  job.spec = R"({"elasticPolicy":{"minReplicas":1,"maxReplicas":3,"maxRestarts":3,
      "rdzvBackend":"c10d"}})";
  FakeCluster cluster(job);
  cluster.Settle();
  EXPECT_EQ(EnvOf(cluster.pods.at("j-worker-0")),
            "PYTHONUNBUFFERED=1 PET_NPROC_PER_NODE=auto PET_RDZV_ENDPOINT=j-worker-0:8080 "
            "PET_RDZV_BACKEND=c10d PET_NNODES=1:3 PET_MAX_RESTARTS=3");
}

}  // namespace
}  // namespace reconcile
