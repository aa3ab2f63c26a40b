#include "local/daemon/node_name.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/file.h"

namespace local::daemon {
namespace {

class NodeNameTest : public testing::Test {
 protected:
  NodeNameTest() { EXPECT_NE(::mkdtemp(state_.data()), nullptr); }
  ~NodeNameTest() override { EXPECT_TRUE(base::RemoveTree(state_)); }

  std::string state_ = testing::TempDir() + "node-name-XXXXXX";
};

TEST_F(NodeNameTest, IsTheHostsAtFirstAndStaysWhateverTheHostIsCalled) {
  EXPECT_EQ(*KeepNodeName(state_, {}, "laptop"), "laptop");
  EXPECT_EQ(*KeepNodeName(state_, {}, "wlan-17"), "laptop");
  EXPECT_EQ(*KeepNodeName(state_, {"wlan-17"}, "wlan-17"), "laptop");
}

TEST_F(NodeNameTest, OfAnOlderStateIsTheOneThatItsPodsAreBoundTo) {
  EXPECT_EQ(*KeepNodeName(state_, {"laptop"}, "wlan-17"), "laptop");
  EXPECT_EQ(*KeepNodeName(state_, {}, "wlan-17"), "laptop");
}

TEST_F(NodeNameTest, OfSeveralIsTheHosts) {
  EXPECT_EQ(*KeepNodeName(state_, {"a", "laptop"}, "laptop"), "laptop");
}

TEST_F(NodeNameTest, ThatWasWrittenHalfIsChosenAgain) {
  ASSERT_TRUE(base::WriteFileAtomic(state_ + "/node-name", "\n", 0600, base::Durability::kNone));
  EXPECT_EQ(*KeepNodeName(state_, {"laptop"}, "wlan-17"), "laptop");
}

}  // namespace
}  // namespace local::daemon
