#include "ads/node/local_nodes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "ads/testing/temporary_folder.h"
#include "process/pidfd.h"

namespace ads {
namespace {

using Ranks = std::set<int64_t>;

// Generous, because it is reached only if something is wrong.
constexpr std::chrono::seconds kLocalNodesDeadline{60};

// A process that acts as a node until it is killed.
class KilledNode {
 public:
  KilledNode(const std::string& folder, int64_t rank) {
    pid_ = ::fork();
    if (pid_ != 0) return;
    const auto node = LocalNodes::Open(folder, rank);
    while (node) ::pause();
    ::_exit(1);
  }
  ~KilledNode() { Kill(); }
  KilledNode(const KilledNode&) = delete;
  KilledNode& operator=(const KilledNode&) = delete;

  void Kill() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
};

LocalNodes::State AwaitState(LocalNodes& node,
                             const std::function<bool(const LocalNodes::State&)>& holds) {
  while (true) {
    auto state = node.Look();
    EXPECT_TRUE(state);
    if (!state || holds(*state)) return state.value_or(LocalNodes::State());
    if (!process::WaitReadable(node.fd(), kLocalNodesDeadline)) {
      ADD_FAILURE() << "nobody told of a change";
      return *state;
    }
  }
}

TEST(LocalNodes_Look, SeesANodeThatWasKilled) {
  const TemporaryFolder folder;
  const auto main = *LocalNodes::Open(folder.path(), 0);
  EXPECT_TRUE(main->Look()->living.empty());
  KilledNode worker(folder.path(), 1);
  AwaitState(*main, [](const auto& state) { return state.living == Ranks{1}; });
  worker.Kill();
  const auto state = AwaitState(*main, [](const auto& seen) { return !seen.lost.empty(); });
  EXPECT_EQ(state.lost, Ranks{1});
  EXPECT_TRUE(state.living.empty());
  // It stays lost, and its end is reported once.
  EXPECT_EQ(main->Look()->lost, Ranks{1});
  EXPECT_FALSE(process::WaitReadable(main->fd(), std::chrono::milliseconds(0)));
}

TEST(LocalNodes_Look, KnowsWhoDiedBeforeItLooked) {
  const TemporaryFolder folder;
  {
    const auto worker = *LocalNodes::Open(folder.path(), 1);
  }
  const auto main = *LocalNodes::Open(folder.path(), 0);
  EXPECT_EQ(main->Look()->lost, Ranks{1});
}

TEST(LocalNodes_ReportExit, IsNotLost) {
  const TemporaryFolder folder;
  const auto main = *LocalNodes::Open(folder.path(), 0);
  auto worker = *LocalNodes::Open(folder.path(), 1);
  ASSERT_TRUE(worker->ReportExit(3));
  auto state = *main->Look();
  EXPECT_EQ(state.living, Ranks{1});
  EXPECT_EQ(state.ended, (std::map<int64_t, int>{{1, 3}}));
  worker.reset();
  state = AwaitState(*main, [](const auto& seen) { return seen.living.empty(); });
  EXPECT_TRUE(state.lost.empty());
  EXPECT_EQ(state.ended.at(1), 3);
  ASSERT_TRUE(main->ReportExit(0));
  EXPECT_EQ(main->Look()->ended.at(0), 0);
}

TEST(LocalNodes_ReportExit, LeavesNoFifoAndIsKnownToWhoComesLater) {
  const TemporaryFolder folder;
  {
    const auto worker = *LocalNodes::Open(folder.path(), 1);
    ASSERT_TRUE(worker->ReportExit(0));
  }
  EXPECT_NE(::access((folder.path() + "/nodes/1").c_str(), F_OK), 0);
  const auto main = *LocalNodes::Open(folder.path(), 0);
  const auto state = *main->Look();
  EXPECT_EQ(state.ended, (std::map<int64_t, int>{{1, 0}}));
  EXPECT_TRUE(state.lost.empty() && state.living.empty());
}

TEST(LocalNodes_AlsoWatch, WakesForIt) {
  const TemporaryFolder folder;
  const auto node = *LocalNodes::Open(folder.path(), 0);
  (void)node->Look();
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const base::Fd reader(ends[0]);
  const base::Fd writer(ends[1]);
  ASSERT_TRUE(node->AlsoWatch(reader.get()));
  EXPECT_FALSE(process::WaitReadable(node->fd(), std::chrono::milliseconds(0)));
  ASSERT_EQ(::write(writer.get(), "x", 1), 1);
  EXPECT_TRUE(process::WaitReadable(node->fd(), kLocalNodesDeadline));
}

}  // namespace
}  // namespace ads
