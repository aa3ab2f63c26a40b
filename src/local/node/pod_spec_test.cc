#include "local/node/pod_spec.h"

#include <gtest/gtest.h>

namespace local::node {
namespace {

TEST(PodSpec, SurvivesTheWayThroughJson) {
  PodSpec spec;
  spec.uid = "uid";
  spec.namespace_name = "default";
  spec.name = "job-worker-0";
  spec.directory = "/pods/uid";
  spec.hostname = "job-worker-0";
  spec.restart_policy = PodRestartPolicy::kOnFailure;
  ContainerSpec sync;
  sync.name = "init-code";
  sync.kind = ContainerSpec::Kind::kGitSync;
  sync.env = {{"A", "1"}, {"A", "\"quoted\"\n"}};
  spec.init_containers = {sync};
  ContainerSpec main;
  main.name = "pytorch";
  main.argv = {"sh", "-c", "python \"x\" # ä"};
  main.cwd = "/root";
  main.tty = true;
  main.image_hint = "none here";
  main.podman_name = "muster-uid-pytorch";
  spec.containers = {main};
  spec.mounts = {{"/a", "/b", true}, {"dshm", "/dev/shm", false, 4096}};
  spec.hosts = {{"job-master-0", "127.0.0.1"}};
  spec.termination_grace = std::chrono::seconds(7);
  spec.job_code_directory = "/code/job";
  spec.restart_backoff = std::chrono::milliseconds(5);
  const text::Json json = ToJson(spec);
  const auto parsed = text::ParseJson(text::ToJson(json));
  ASSERT_TRUE(parsed);
  const auto again = PodSpecFromJson(*parsed);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(text::ToJson(ToJson(*again)), text::ToJson(json));
  EXPECT_EQ(again->init_containers[0].kind, ContainerSpec::Kind::kGitSync);
  EXPECT_EQ(again->init_containers[0].env, sync.env);
  EXPECT_EQ(again->containers[0].argv, main.argv);
  EXPECT_TRUE(again->containers[0].tty);
  EXPECT_EQ(again->containers[0].image_hint, "none here");
  EXPECT_EQ(again->containers[0].podman_name, "muster-uid-pytorch");
  EXPECT_TRUE(again->mounts[0].read_only);
  EXPECT_EQ(again->mounts[0].memory, std::nullopt);
  EXPECT_EQ(again->mounts[1].memory, 4096);
  EXPECT_EQ(again->hosts, spec.hosts);
  EXPECT_EQ(again->termination_grace, spec.termination_grace);
  EXPECT_EQ(again->restart_backoff, spec.restart_backoff);
}

TEST(PodSpec, RefusesWhatIsNoSpecification) {
  const char* const cases[] = {
      "{}",
      R"({"directory":"relative","restartPolicy":"Never"})",
      R"({"directory":"/d","restartPolicy":"Sometimes"})",
      R"({"directory":"/d","restartPolicy":"Never","containers":[{"kind":"program"}]})",
      R"({"directory":"/d","restartPolicy":"Never","containers":[{"name":"../x","kind":"program"}]})",
      R"({"directory":"/d","restartPolicy":"Never","hosts":[["one"]]})",
  };
  for (const char* const json : cases)
    EXPECT_FALSE(PodSpecFromJson(*text::ParseJson(json))) << json;
}

TEST(PodReport, SurvivesTheWayThroughJson) {
  PodReport report;
  report.uid = "uid";
  ContainerReport container;
  container.name = "pytorch";
  container.restart_count = 2;
  container.state.phase = ContainerState::Phase::kTerminated;
  container.state.reason = "OOMKilled";
  container.state.message = "last\nlines";
  container.state.exit_code = 137;
  container.state.signal = 9;
  container.state.started_at = base::ParseRfc3339("2026-07-30T10:00:00.5Z").value();
  container.state.finished_at = base::ParseRfc3339("2026-07-30T10:00:01.000001Z").value();
  container.last_termination = container.state;
  report.containers = {container};
  report.init_containers = {ContainerReport{"init", 0, {}, {}}};
  report.is_finished = true;
  report.has_succeeded = false;
  report.reason = "ShimLost";
  report.message = "why";
  const auto again = PodReportFromJson(*text::ParseJson(text::ToJson(ToJson(report))));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(text::ToJson(ToJson(*again)), text::ToJson(ToJson(report)));
  EXPECT_EQ(again->containers[0].state.finished_at, container.state.finished_at);
  EXPECT_EQ(again->containers[0].last_termination->exit_code, 137);
  EXPECT_EQ(again->init_containers[0].state.phase, ContainerState::Phase::kWaiting);
  EXPECT_FALSE(again->init_containers[0].last_termination);
}

}  // namespace
}  // namespace local::node
