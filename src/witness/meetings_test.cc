#include "witness/meetings.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/file.h"

namespace witness {
namespace {

class MeetingsFileTest : public testing::Test {
 protected:
  MeetingsFileTest() {
    std::string pattern = testing::TempDir() + "/muster-meetings-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~MeetingsFileTest() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

void Append(const std::string& folder, const std::string& text) {
  const std::string path = folder + "/meetings";
  const auto before = base::ReadFile(path, 1 << 20);
  ASSERT_TRUE(
      base::WriteFileAtomic(path, (before ? *before : "") + text, 0600, base::Durability::kNone));
}

TEST(ReadMeetings, MakesOneOfThoseThatOverlap) {
  const auto meetings =
      ReadMeetings("ranks 500 900\nranks 100 520\nlaunchers 100 400\nranks 1000 1000\n");
  ASSERT_EQ(meetings.size(), 3u);
  EXPECT_TRUE(meetings[0].is_of_launchers);
  EXPECT_EQ(meetings[0].end, 400);
  EXPECT_EQ(meetings[1].begin, 100);
  EXPECT_EQ(meetings[1].end, 900);
  EXPECT_EQ(meetings[2].begin, 1000);
}

TEST(ReadMeetings, LeavesOutWhatIsNone) {
  for (const char* line :
       {"", "ranks", "ranks 1", "ranks 2 1", "ranks -1 5", "nodes 1 2", "ranks 1 2 3", "ranks a b",
        "ranks 1 99999999999999999999", "ranks 1 9007199254740993", "\0\0"}) {
    EXPECT_TRUE(ReadMeetings(line).empty()) << line;
  }
}

TEST_F(MeetingsFileTest, ReportsEachOnceAndWholeLinesOnly) {
  MeetingsFile file(folder_);
  EXPECT_TRUE(file.ReadNew().empty());
  Append(folder_, "ranks 1 2\nranks 5");
  EXPECT_EQ(file.ReadNew().size(), 1u);
  EXPECT_TRUE(file.ReadNew().empty());
  Append(folder_, " 7\n");
  const auto rest = file.ReadNew();
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0].end, 7);
}

TEST_F(MeetingsFileTest, WhatALauncherNotesIsRead) {
  const std::string folder = folder_ + "/made/for it";
  const base::Time begin{std::chrono::milliseconds(1500)}, end{std::chrono::milliseconds(4000)};
  NoteMeeting(folder, begin, end);
  const auto meetings = MeetingsFile(folder).ReadNew();
  ASSERT_EQ(meetings.size(), 1u);
  EXPECT_TRUE(meetings[0].is_of_launchers);
  EXPECT_EQ(meetings[0].begin, 1500);
  EXPECT_EQ(meetings[0].end, 4000);
}

TEST_F(MeetingsFileTest, WhoHasMetBeforeARestartHasNotMetSince) {
  EXPECT_FALSE(HasMet(folder_, {}));
  NoteMeeting(folder_, {}, {});
  EXPECT_TRUE(HasMet(folder_, {}));
  const base::Time restart = base::SystemClock().Now() + std::chrono::seconds(1);
  EXPECT_FALSE(HasMet(folder_, restart));
  const timespec later[2] = {{}, {std::chrono::system_clock::to_time_t(restart) + 2, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (folder_ + "/meetings").c_str(), later, 0), 0);
  EXPECT_TRUE(HasMet(folder_, restart));
}

TEST_F(MeetingsFileTest, AProgramThatWritesMuchIsHeardNoMore) {
  std::string lines;
  for (int i = 0; i < 20'000; ++i) lines += "ranks 1 2\n";
  Append(folder_, lines);
  MeetingsFile file(folder_);
  EXPECT_EQ(file.ReadNew().size(), 1u);
  EXPECT_TRUE(file.ReadNew().empty());
}

TEST_F(MeetingsFileTest, IsNeverAPipeOrALink) {
  ASSERT_EQ(::mkfifo((folder_ + "/meetings").c_str(), 0600), 0);
  EXPECT_TRUE(MeetingsFile(folder_).ReadNew().empty());
}

}  // namespace
}  // namespace witness
