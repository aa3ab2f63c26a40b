#include "local/daemon/ranks/meeting_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace local::daemon {
namespace {

constexpr const char* kUid = "0f5c1f6a-3c07-4a3e-8a1b-0e5a3c1d2b4f";

class MeetingFilesTest : public testing::Test {
 protected:
  MeetingFilesTest() {
    std::string pattern = testing::TempDir() + "/muster-meetings-XXXXXX";
    state_ = mkdtemp(pattern.data());
    std::filesystem::create_directory(state_ + "/pod");
  }
  ~MeetingFilesTest() override { std::filesystem::remove_all(state_); }

  void Append(const std::string& line) const {
    std::ofstream(state_ + "/pod/meetings", std::ios::app) << line;
  }
  std::string Waits(ProgressFiles& progress) const {
    return text::ToJson(progress.Of(kUid, 1, true).at("waits"));
  }

  std::string state_;
};

TEST_F(MeetingFilesTest, EachIsNotedOnce) {
  ProgressFiles progress(state_);
  MeetingFiles files(progress);
  files.See(kUid, state_ + "/pod");
  Append("launchers 1000 2000\nranks 2500 4000\nranks 3000 4001\n");
  files.See(kUid, state_ + "/pod");
  files.See(kUid, state_ + "/pod");
  const std::string both =
      R"([[1000,2000,"rendezvous","launchers"],[2500,4001,"rendezvous","ranks"]])";
  EXPECT_EQ(Waits(progress), both);
  files.SeeLast(kUid, state_ + "/pod");
  EXPECT_EQ(Waits(progress), both);
}

TEST_F(MeetingFilesTest, ADaemonThatReadsItAgainKnowsIt) {
  Append("ranks 2500 4000\n");
  for (int i = 0; i < 2; ++i) {
    ProgressFiles progress(state_);
    MeetingFiles(progress).SeeLast(kUid, state_ + "/pod");
    EXPECT_EQ(Waits(progress), R"([[2500,4000,"rendezvous","ranks"]])");
  }
}

// Its pod's end is heard of after the job's progress was closed.
TEST_F(MeetingFilesTest, WhatAnEndedJobReportsDoesNotMakeItRun) {
  ProgressFiles progress(state_);
  Append("ranks 2500 4000\n");
  MeetingFiles(progress).SeeLast(kUid, state_ + "/pod");
  EXPECT_EQ(text::ToJson(progress.OfRunning()), R"({"items":[]})");
}

}  // namespace
}  // namespace local::daemon
