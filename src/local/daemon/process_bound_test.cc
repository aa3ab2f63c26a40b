#include "local/daemon/process_bound.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "local/daemon/process_limits.h"

namespace local::daemon {
namespace {

namespace fs = std::filesystem;

text::Json JobOf(int64_t workers, const char* ranks) {
  text::Json job = text::Object();
  text::Set(job, {"spec", "pytorchReplicaSpecs", "Master", "replicas"}, 1);
  text::Set(job, {"spec", "pytorchReplicaSpecs", "Worker", "replicas"}, workers);
  text::Set(job, {"spec", "nprocPerNode"}, ranks);
  return job;
}

TEST(ProcessBound, TheSmallestLimitCountsAndIsNamed) {
  EXPECT_EQ(BoundOf(int64_t{24} << 30, {}).processes, 6144);
  EXPECT_EQ(BoundOf(int64_t{24} << 30, {}).by, "24 GiB of memory");
  const ProcessBound bound = BoundOf(int64_t{24} << 30, {{0, "none"}, {500, "ulimit -u 500"}});
  EXPECT_EQ(bound.processes, 500);
  EXPECT_EQ(bound.by, "ulimit -u 500");
  EXPECT_EQ(BoundOf(0, {{0, "none"}}).processes, 0);
}

TEST(ProcessBound, ReplicasTimesRanksAreCounted) {
  const ProcessBound bound{100, "ulimit -u 100"};
  EXPECT_TRUE(CheckProcesses(bound, JobOf(99, "1"), nullptr));
  EXPECT_TRUE(CheckProcesses(bound, JobOf(9, "10"), nullptr));
  EXPECT_TRUE(CheckProcesses(bound, JobOf(1, "auto"), nullptr));
  EXPECT_FALSE(CheckProcesses(bound, JobOf(9, "11"), nullptr));
  EXPECT_FALSE(CheckProcesses(bound, JobOf(2147483647, "9223372036854775807"), nullptr));
  const base::Status refused = CheckProcesses(bound, JobOf(100, "1"), nullptr);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::kInvalidArgument);
  EXPECT_EQ(refused.error().message,
            "the job has 101 processes (replicas times nprocPerNode), and this machine with ulimit "
            "-u 100 runs at most 100: use fewer (--nproc-per-node, --nodes or --workers)");
  text::Json elastic = JobOf(1, "2");
  text::Set(elastic, {"spec", "elasticPolicy", "maxReplicas"}, 51);
  EXPECT_FALSE(CheckProcesses(bound, elastic, nullptr));
  EXPECT_TRUE(CheckProcesses({}, JobOf(100000, "1"), nullptr)) << "nothing is known";
}

TEST(ProcessBound, AJobThatIsThereMayChangeButNotGrow) {
  const ProcessBound bound{100, "ulimit -u 100"};
  const text::Json old = JobOf(200, "1");
  EXPECT_TRUE(CheckProcesses(bound, JobOf(200, "1"), &old));
  EXPECT_TRUE(CheckProcesses(bound, JobOf(150, "1"), &old));
  EXPECT_FALSE(CheckProcesses(bound, JobOf(201, "1"), &old));
}

TEST(ProcessBound, TheLimitsOfTheMachineAreRead) {
  char path[] = "/tmp/muster-limits-XXXXXX";
  const std::string root = ::mkdtemp(path);
  const auto put = [&](const std::string& name, std::string_view content) {
    fs::create_directories(fs::path(root + name).parent_path());
    ASSERT_TRUE(base::WriteFileAtomic(root + name, content, 0644, base::Durability::kNone));
  };
  put("/proc/sys/kernel/pid_max", "32768\n");
  put("/proc/self/cgroup", "1:name=x:/y\n0::/a/b\n");
  put("/sys/fs/cgroup/a/b/pids.max", "max\n");
  put("/sys/fs/cgroup/a/pids.max", "77\n");
  const std::vector<ProcessBound> limits = ReadProcessLimits(root);
  const auto has = [&](const std::string& by) {
    return std::any_of(limits.begin(), limits.end(), [&](const auto& one) { return one.by == by; });
  };
  EXPECT_TRUE(has("kernel.pid_max 32768"));
  EXPECT_TRUE(has("the cgroup's pids.max 77"));
  fs::remove_all(root);
}

}  // namespace
}  // namespace local::daemon
