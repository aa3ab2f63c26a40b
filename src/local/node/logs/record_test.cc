#include "local/node/logs/record.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "base/file.h"

namespace local::node {
namespace {

namespace fs = std::filesystem;

class RecordTest : public testing::Test {
 protected:
  RecordTest() {
    char path[] = "/tmp/muster-record-XXXXXX";
    folder_ = ::mkdtemp(path);
    pod_ = folder_ + "/pods/a";
    record_ = RecordDirectory(folder_, "a");
    fs::create_directories(pod_ + "/logs/pytorch");
    Write("/logs/pytorch/0.log", "hello");
    Write("/status.json", "{}");
    Write("/spec.json", "secret");
  }
  ~RecordTest() override { fs::remove_all(folder_); }
  void Write(const std::string& name, std::string_view content) {
    ASSERT_TRUE(base::WriteFileAtomic(pod_ + name, content, 0600, base::Durability::kNone));
  }
  std::string folder_, pod_, record_;
};

TEST_F(RecordTest, LogsAndReportStayAndNothingElse) {
  ASSERT_TRUE(KeepRecord(pod_, record_));
  EXPECT_EQ(base::ReadFile(record_ + "/logs/pytorch/0.log").value(), "hello");
  EXPECT_EQ(base::ReadFile(record_ + "/status.json").value(), "{}");
  EXPECT_FALSE(fs::exists(record_ + "/spec.json"));
  EXPECT_FALSE(fs::exists(pod_ + "/logs"));
}

TEST_F(RecordTest, WhatWasCutOffIsCarriedOn) {
  fs::create_directories(record_);
  fs::create_hard_link(pod_ + "/status.json", record_ + "/status.json");
  ASSERT_TRUE(KeepRecord(pod_, record_));
  EXPECT_TRUE(fs::exists(record_ + "/logs/pytorch/0.log"));
  ASSERT_TRUE(KeepRecord(pod_, record_));  // again: there is nothing left to do
  EXPECT_TRUE(fs::exists(record_ + "/logs/pytorch/0.log"));
}

TEST_F(RecordTest, APodThatNeverBeganLeavesNothing) {
  fs::remove_all(pod_ + "/logs");
  ASSERT_TRUE(KeepRecord(pod_, record_));
  EXPECT_FALSE(fs::exists(record_));
}

}  // namespace
}  // namespace local::node
