#include "local/node/shim/oom_watch.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "local/node/shim/container_run.h"

namespace local::node {
namespace {

TEST(OomWatch, FindsItsVictimInTheKernelsLog) {
  constexpr std::string_view kRecord =
      "4,1234,5678,-;Out of memory: Killed process 4242 (python3) total-vm:1kB, anon-rss:1kB";
  EXPECT_TRUE(NamesOomVictim(kRecord, 4242));
  EXPECT_TRUE(NamesOomVictim("6,1,2,-;Memory cgroup out of memory: Killed process 7 (x)", 7));
  EXPECT_FALSE(NamesOomVictim(kRecord, 424));
  EXPECT_FALSE(NamesOomVictim(kRecord, 242));
  EXPECT_FALSE(NamesOomVictim("", 1));
}

TEST(OomWatch, NobodyWasKilledSinceNow) {
  const OomWatch watch;
  EXPECT_FALSE(watch.HasKilled(1));
}

TEST(ContainerEnd, IsDescribedAsKubernetesDoes) {
  const struct {
    int status;
    bool is_oom;
    int exit_code;
    int signal;
    const char* reason;
  } cases[] = {
      {0, false, 0, 0, "Completed"},
      {3 << 8, false, 3, 0, "Error"},
      {SIGSEGV, false, 139, SIGSEGV, "Error"},
      {SIGSEGV | 0x80, false, 139, SIGSEGV, "Error"},  // with a core dump
      {SIGKILL, false, 137, SIGKILL, "Error"},
      {SIGKILL, true, 137, SIGKILL, "OOMKilled"},
      {137 << 8, true, 137, 0, "OOMKilled"},
  };
  for (const auto& c : cases) {
    const ContainerState state = DescribeEnd(c.status, c.is_oom);
    EXPECT_EQ(state.phase, ContainerState::Phase::kTerminated);
    EXPECT_EQ(state.exit_code, c.exit_code);
    EXPECT_EQ(state.signal, c.signal);
    EXPECT_EQ(state.reason, c.reason);
  }
}

TEST(ContainerEnvironment, LaterEntriesWinAndThePodsUidIsThere) {
  PodSpec pod;
  pod.uid = "u";
  ContainerSpec spec;
  spec.env = {{"A", "1"}, {"B", "2"}, {"A", "3"}, {"MUSTER_POD_UID", "forged"}};
  EXPECT_EQ(ContainerEnvironment(pod, spec),
            (std::vector<std::string>{"B=2", "A=3", "MUSTER_POD_UID=u"}));
}

}  // namespace
}  // namespace local::node
