#include "local/node/pod/container_process.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace local::node {
namespace {

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
