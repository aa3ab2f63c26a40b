#include "launch/failure/report_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "base/file.h"
#include "launch/failure/failure.h"

namespace launch {
namespace {

TEST(WriteReport, LeavesTheFileWhatItIs) {
  const std::string path = ::testing::TempDir() + fmt::format("report.{}", ::getpid());
  const std::string link = path + ".link";
  ASSERT_TRUE(WriteReport(path, "a longer text"));
  ASSERT_EQ(::symlink(path.c_str(), link.c_str()), 0);
  ASSERT_TRUE(WriteReport(link, "text"));
  EXPECT_EQ(base::ReadFile(path).value(), "text");
  struct stat info{};
  ASSERT_EQ(::lstat(link.c_str(), &info), 0);
  EXPECT_TRUE(S_ISLNK(info.st_mode));
  EXPECT_TRUE(WriteReport("/dev/null", "x"));
  ASSERT_EQ(::stat("/dev/null", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
  std::remove(link.c_str());
  std::remove(path.c_str());
}

TEST(WriteReport, WaitsForNoReader) {
  const std::string path = ::testing::TempDir() + fmt::format("report_pipe.{}", ::getpid());
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(WriteReport(path, "x"));
  EXPECT_FALSE(WriteReport("/no/such/folder/x", "x"));
  std::remove(path.c_str());
}

TEST(ErrorFileText, IsReadAsAnErrorFile) {
  const auto report = answers::ParseErrorFile(
      ErrorFileText("no \"x\"\n", base::Time(std::chrono::seconds(1795223550))));
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->message, "no \"x\"\n");
  EXPECT_EQ(report->timestamp, 1795223550);
}

}  // namespace
}  // namespace launch
