#include "local/node/pod/pod_spec.h"

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
  main.rights = {7, 8, {9, 10}, ~uint64_t{0}, true};
  main.memory_limit = int64_t{1} << 40;
  main.cpu_limit_milli = 1500;
  spec.containers = {main};
  spec.mounts = {{"/a", "/b", true}, {"dshm", "/dev/shm", false, 4096}};
  spec.hosts = {{"job-master-0", "127.0.0.1"}};
  spec.umask = 0027;
  spec.is_root_read_only = true;
  spec.cgroup_mount = "/sys/fs/cgroup";
  spec.is_in_user_scope = true;
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
  const process::Rights& rights = again->containers[0].rights;
  EXPECT_EQ(rights.user, 7u);
  EXPECT_EQ(rights.group, 8u);
  EXPECT_EQ(rights.groups, (std::vector<gid_t>{9, 10}));
  EXPECT_EQ(rights.dropped_capabilities, ~uint64_t{0});
  EXPECT_TRUE(rights.has_no_new_privileges);
  EXPECT_EQ(again->containers[0].memory_limit, int64_t{1} << 40);
  EXPECT_EQ(again->containers[0].cpu_limit_milli, 1500);
  EXPECT_EQ(again->umask, 0027u);
  EXPECT_TRUE(again->is_root_read_only);
  EXPECT_EQ(again->cgroup_mount, "/sys/fs/cgroup");
  EXPECT_TRUE(again->is_in_user_scope);
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
  container.session = {42, 4711};
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
  EXPECT_EQ(again->containers[0].session.id, 42);
  EXPECT_EQ(again->containers[0].session.start_ticks, 4711u);
  EXPECT_EQ(again->init_containers[0].state.phase, ContainerState::Phase::kWaiting);
  EXPECT_FALSE(again->init_containers[0].last_termination);
}

}  // namespace
}  // namespace local::node
