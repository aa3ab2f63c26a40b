#include "launch/workers/file_timer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>
#include <vector>

namespace launch {
namespace {

class FileTimerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    loop_ = process::EventLoop::Create(base::SystemClock()).value();
    path_ = ::testing::TempDir() + fmt::format("file_timer.{}", ::getpid());
    timer_ = FileTimer::Open(*loop_, clock_, path_,
                             [this](pid_t pid, const std::string& scope, int signal) {
                               late_.push_back(fmt::format("{} {} {}", pid, scope, signal));
                             })
                 .value();
  }

  void Write(const std::string& text) const { std::ofstream(path_) << text; }
  void Ask(int pid, const std::string& scope, double when, int signal = 9) const {
    Write(
        fmt::format("{{\"version\": 1, \"pid\": {}, \"scope_id\": \"{}\", "
                    "\"expiration_time\": {}, \"signal\": {}}}\n",
                    pid, scope, when, signal));
  }
  // Runs until the last requester is late.
  void RunToTheEnd() {
    Ask(999, "end", 0, 1);
    std::function<void()> look = [&] {
      if (!late_.empty() && late_.back() == "999 end 1") return loop_->Stop();
      loop_->After(std::chrono::milliseconds(1), look);
    };
    loop_->Post(look);
    ASSERT_TRUE(loop_->Run());
    late_.pop_back();
  }

  base::FakeClock clock_{base::Time(std::chrono::seconds(1000))};
  std::unique_ptr<process::EventLoop> loop_;
  std::string path_;
  std::vector<std::string> late_;
  std::unique_ptr<FileTimer> timer_;
};

TEST_F(FileTimerTest, WhoIsLateIsReportedOnceByTheEarliestScope) {
  Ask(7, "later", 900);
  Ask(7, "first", 800, 15);
  Ask(7, "silent", 700, 0);
  Ask(8, "in time", 1001);
  Ask(9, "silent", 700, -1);
  RunToTheEnd();
  EXPECT_EQ(late_, std::vector<std::string>{"7 first 15"});
}

TEST_F(FileTimerTest, TimersAreTakenBackAndPutOff) {
  Ask(7, "a", 1000.5);
  Ask(7, "a", -1, 0);
  Ask(8, "b", 1000.5);
  Ask(8, "b", 2000);
  RunToTheEnd();
  clock_.Advance(std::chrono::seconds(500));
  RunToTheEnd();
  EXPECT_EQ(late_, std::vector<std::string>{});
}

TEST_F(FileTimerTest, WhatIsNoRequestIsPassedOver) {
  for (const char* text : {"\n", "{}\n", "[1]\n", "{\"pid\": -1, \"scope_id\": \"x\"}\n",
                           "{\"pid\": 1e99, \"scope_id\": \"x\"}\n", "{\"pid\": 5}\n"}) {
    Write(text);
  }
  Write(std::string(5000, 'x'));
  Write("\n");
  RunToTheEnd();
  EXPECT_EQ(late_, std::vector<std::string>{});
}

TEST_F(FileTimerTest, ThePipeGoesWithIt) {
  struct stat info{};
  ASSERT_EQ(::stat(path_.c_str(), &info), 0);
  EXPECT_TRUE(S_ISFIFO(info.st_mode));
  timer_.reset();
  EXPECT_NE(::stat(path_.c_str(), &info), 0);
  std::ofstream(path_) << "precious";
  EXPECT_FALSE(FileTimer::Open(*loop_, clock_, path_, nullptr));
  EXPECT_EQ(::stat(path_.c_str(), &info), 0);
  std::remove(path_.c_str());
}

}  // namespace
}  // namespace launch
