#include "reconcile/pod/init_container.h"

#include <gtest/gtest.h>

#include "reconcile/testing/fake_cluster.h"

namespace reconcile {
namespace {

const text::Array* InitContainersOf(const FakeCluster& cluster, const std::string& pod) {
  return text::FindArray(cluster.pods.at(pod), {"spec", "initContainers"});
}

TEST(InitContainer, NoneWithoutAMaster) {  // I1
  FakeCluster cluster(TestJob{.has_master = false});
  cluster.Settle();
  EXPECT_EQ(InitContainersOf(cluster, "j-worker-0"), nullptr);
}

TEST(InitContainer, OneInEveryWorkerNoneInTheMaster) {  // I2, I3, golden `basic`
  FakeCluster cluster(TestJob{});
  cluster.Settle();
  EXPECT_EQ(InitContainersOf(cluster, "j-master-0"), nullptr);
  for (const char* const worker : {"j-worker-0", "j-worker-1"}) {
    EXPECT_EQ(text::Json(*InitContainersOf(cluster, worker)), Parse(R"([{
        "name":"init-pytorch","image":"alpine:3.10","imagePullPolicy":"IfNotPresent",
        "resources":{"limits":{"cpu":"100m","memory":"20Mi"},
                     "requests":{"cpu":"50m","memory":"10Mi"}},
        "command":["sh","-c","err=1;for i in $(seq 100); do if nslookup j-master-0 2>/dev/null || getent hosts j-master-0; then err=0 && break; fi;echo waiting for master; sleep 2; done; exit $err"],
        "securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]},
                           "seccompProfile":{"type":"RuntimeDefault"}}}])"));
  }
}

TEST(InitContainer, ComesAfterTheTemplates) {
  TestJob job;
  job.pod_template =
      R"({"spec":{"initContainers":[{"name":"mine"}],"containers":[{"name":"pytorch"}]}})";
  Options options;
  options.init_container_image = "x:1";
  options.init_container_max_tries = 7;
  FakeCluster cluster(job, options);
  cluster.Settle();
  const text::Array& all = *InitContainersOf(cluster, "j-worker-0");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(text::GetString(all[0], {"name"}), "mine");
  EXPECT_EQ(text::GetString(all[1], {"image"}), "x:1");
  EXPECT_NE(text::GetString(all[1].at("command").at(2), {}).find("seq 7"), std::string::npos);
}

TEST(InitContainer, RunsAsTheUserOfTheJob) {
  for (const char* const step : {"dns", "port"}) {
    TestJob job;
    job.pod_template =
        R"({"spec":{"containers":[{"name":"pytorch","securityContext":{"runAsNonRoot":true,)"
        R"("runAsUser":1000,"privileged":true}}]}})";
    Options options;
    options.init_step = step;
    FakeCluster cluster(job, options);
    cluster.Settle();
    EXPECT_EQ(InitContainersOf(cluster, "j-worker-0")->front().at("securityContext"), Parse(R"({
        "allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]},
        "seccompProfile":{"type":"RuntimeDefault"},"runAsNonRoot":true,"runAsUser":1000})"))
        << step;
  }
}

TEST(InitContainer, CanBeSwitchedOff) {
  Options options;
  options.init_container = false;
  FakeCluster cluster(TestJob{}, options);
  cluster.Settle();
  EXPECT_EQ(InitContainersOf(cluster, "j-worker-0"), nullptr);
}

TEST(InitContainer, TheOperatorsTemplateReplacesIt) {
  Options options;
  options.init_container_template = R"(
- name: wait
  image: {{.InitContainerImage}}
  command: ["wait-for", "{{ .MasterAddr }}", "{{.MaxTries}}", "{{- .MasterAddr -}} "]
- name: second
)";
  FakeCluster cluster(TestJob{}, options);
  cluster.Settle();
  EXPECT_EQ(text::Json(*InitContainersOf(cluster, "j-worker-1")), Parse(R"([
      {"name":"wait","image":"alpine:3.10",
       "command":["wait-for","j-master-0","100","j-master-0"]},{"name":"second"}])"));
}

TEST(InitContainer, ATemplateThatIsNoListOfContainersIsKnown) {
  EXPECT_TRUE(IsInitContainerTemplate("- name: a"));
  EXPECT_FALSE(IsInitContainerTemplate(""));
  EXPECT_FALSE(IsInitContainerTemplate("name: a"));
  EXPECT_FALSE(IsInitContainerTemplate("[]"));
  EXPECT_FALSE(IsInitContainerTemplate("- 1"));
  EXPECT_FALSE(IsInitContainerTemplate("- ["));
}

}  // namespace
}  // namespace reconcile
