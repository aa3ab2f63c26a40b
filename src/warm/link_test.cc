#include "warm/link.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <utility>

#include "base/clock.h"
#include "warm/message.h"

namespace warm {
namespace {

class LinkTest : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    keeper_.Reset(ends[0]);
    auto loop = process::EventLoop::Create(base::SystemClock());
    ASSERT_TRUE(loop);
    loop_ = std::move(*loop);
    link_ = std::make_unique<Link>(*loop_, base::Fd(ends[1]), 7,
                                   Link::Events{[this](pid_t pid, int exit_code) {
                                                  ended_ = {pid, exit_code};
                                                  loop_->Stop();
                                                },
                                                [] {}, [this] { loop_->Stop(); }});
    ASSERT_TRUE(link_->Watch());
    // A hang is a failure and not the end of the tests.
    loop_->After(std::chrono::seconds(10), [this] { loop_->Stop(); });
  }
  void Say(const Message& message) { ASSERT_TRUE(SendMessage(keeper_.get(), message, {})); }

  base::Fd keeper_;
  std::unique_ptr<process::EventLoop> loop_;
  std::unique_ptr<Link> link_;
  std::pair<pid_t, int> ended_;
};

TEST_F(LinkTest, HearsOfARankThatEndedBeforeItsStartWasHeardOf) {
  Say({"started", "42"});
  Say({"ended", "42", "3"});
  const auto pid = link_->Start({});
  ASSERT_TRUE(pid);
  EXPECT_EQ(*pid, 42);
  EXPECT_EQ(ended_, std::pair(0, 0));  // never from within Start
  ASSERT_TRUE(loop_->Run());
  EXPECT_EQ(ended_, std::pair(42, 3));
}

TEST_F(LinkTest, HearsOfAnEarlierRankWhileAnotherIsRefused) {
  Say({"ended", "41", "-9"});
  Say({"refused", "another python is asked for"});
  const auto pid = link_->Start({});
  ASSERT_FALSE(pid);
  EXPECT_EQ(pid.error().message, "another python is asked for");
  ASSERT_TRUE(loop_->Run());
  EXPECT_EQ(ended_, std::pair(41, -9));
}

}  // namespace
}  // namespace warm
