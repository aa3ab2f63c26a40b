#include "witness/stall_word.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"

namespace witness {
namespace {

using std::chrono::seconds;
using Instant = std::chrono::steady_clock::time_point;

StallWord Stalled() {
  answers::Stall stall;
  stall.kind = answers::Stall::Kind::kStalled;
  stall.since = Instant(std::chrono::nanoseconds(3'000'000'001));
  stall.waiting = {0, 2};
  stall.missing = {1};
  stall.text = "rank 1 has not entered all_reduce (train.py:88); it is at a.py:3: say(\"\\n\")";
  return {stall};
}

TEST(ParseStallWord, ReadsWhatIsFormatted) {
  const auto read = ParseStallWord(FormatStallWord(Stalled()), Instant(seconds(4)));
  ASSERT_TRUE(read && read->stall);
  EXPECT_EQ(read->stall->kind, answers::Stall::Kind::kStalled);
  EXPECT_EQ(read->stall->since, Stalled().stall->since);
  EXPECT_EQ(read->stall->waiting, Stalled().stall->waiting);
  EXPECT_EQ(read->stall->missing, Stalled().stall->missing);
  EXPECT_EQ(read->stall->text, Stalled().stall->text);
  StallWord waiting = Stalled();
  waiting.stall->kind = answers::Stall::Kind::kWaiting;
  waiting.stall->missing = {};
  const auto slow = ParseStallWord(FormatStallWord(waiting), Instant(seconds(4)));
  ASSERT_TRUE(slow && slow->stall);
  EXPECT_EQ(slow->stall->kind, answers::Stall::Kind::kWaiting);
  EXPECT_TRUE(slow->stall->missing.empty());
  const auto none = ParseStallWord(FormatStallWord({}), {});
  EXPECT_TRUE(none && !none->stall);
}

TEST(ParseStallWord, LeavesOutWhatIsNone) {
  // Of the future: no launcher can have said it.
  EXPECT_FALSE(ParseStallWord(FormatStallWord(Stalled()), Instant(seconds(3))));
  constexpr const char* kRest = R"(,"waiting":[0],"missing":[1],"text":"a"})";
  ASSERT_TRUE(
      ParseStallWord(R"({"kind":"stalled","since":5)" + std::string(kRest), Instant(seconds(1))));
  for (const char* begin :
       {R"({"kind":"slowed","since":5)", R"({"since":5)", R"({"kind":"stalled")",
        R"({"kind":"stalled","since":-1)", R"({"kind":"stalled","since":"5")",
        R"({"kind":7,"since":5)", R"({"kind":"stalled","since":1e300)"}) {
    EXPECT_FALSE(ParseStallWord(begin + std::string(kRest), Instant(seconds(1)))) << begin;
  }
  for (const char* rest :
       {"", "}", R"(,"waiting":[0],"missing":[1]})", R"(,"waiting":[0],"missing":[1],"text":""})",
        R"(,"waiting":[0],"missing":[1],"text":"a\u001b[31m"})",
        R"(,"waiting":[0],"missing":[1],"text":"a\nb"})", R"(,"waiting":[0],"text":"a"})",
        R"(,"waiting":["0"],"missing":[1],"text":"a"})",
        R"(,"waiting":[0],"missing":[-1],"text":"a"})",
        R"(,"waiting":[0],"missing":[4294967296],"text":"a"})",
        R"(,"waiting":0,"missing":[1],"text":"a"})"}) {
    EXPECT_FALSE(
        ParseStallWord(R"({"kind":"stalled","since":5)" + std::string(rest), Instant(seconds(1))))
        << rest;
  }
  for (const char* text : {"", "[]", "null", "{", "{}}", "stalled"}) {
    EXPECT_FALSE(ParseStallWord(text, Instant(seconds(1)))) << text;
  }
}

class StallTellerTest : public testing::Test {
 protected:
  StallTellerTest() {
    std::string pattern = testing::TempDir() + "/muster-word-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    clock_.Advance(seconds(4));
  }
  ~StallTellerTest() override { std::filesystem::remove_all(folder_); }

  std::string Path() const { return folder_ + "/stall-7"; }
  std::optional<StallWord> Hear(pid_t first_rank = 7) {
    return HearStall(folder_, first_rank, clock_);
  }
  void Write(std::string_view text) {
    ASSERT_TRUE(base::WriteFileAtomic(Path(), text, 0600, base::Durability::kNone));
  }

  std::string folder_;
  base::FakeClock clock_{base::SystemClock().Now()};
};

TEST_F(StallTellerTest, IsHeardUntilItIsGone) {
  EXPECT_FALSE(Hear());
  {
    StallTeller teller(folder_, 7);
    teller.Tell({});
    ASSERT_TRUE(Hear());
    EXPECT_FALSE(Hear()->stall);
    EXPECT_FALSE(Hear(8));
    teller.Tell(Stalled());
    ASSERT_TRUE(Hear() && Hear()->stall);
    EXPECT_EQ(Hear()->stall->text, Stalled().stall->text);
    teller.Tell({});
    ASSERT_TRUE(Hear());
    EXPECT_FALSE(Hear()->stall);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(StallTellerTest, AWordThatIsNotRepeatedIsStale) {
  StallTeller teller(folder_, 7);
  teller.Tell(Stalled());
  const auto long_ago = std::chrono::system_clock::to_time_t(clock_.Now()) - 20;
  const timespec times[2] = {{long_ago, 0}, {long_ago, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, Path().c_str(), times, 0), 0);
  EXPECT_FALSE(Hear());
  const timespec farthest[2] = {{0, 0}, {int64_t{1} << 34, 0}};  // nanoseconds would overflow
  ASSERT_EQ(::utimensat(AT_FDCWD, Path().c_str(), farthest, 0), 0);
  EXPECT_FALSE(Hear());
  teller.Tell(Stalled());
  EXPECT_TRUE(Hear());
  std::filesystem::remove(Path());
  teller.Tell(Stalled());
  EXPECT_TRUE(Hear());
}

TEST_F(StallTellerTest, TheFolderMayNotExistYet) {
  folder_ += "/made/for it";
  StallTeller teller(folder_, 7);
  teller.Tell({});
  EXPECT_TRUE(Hear());
}

TEST_F(StallTellerTest, WhatIsNoFileOfItsSizeIsNotRead) {
  const std::string word = FormatStallWord(Stalled());
  Write(word + std::string((64 << 10) - word.size(), ' '));
  EXPECT_TRUE(Hear());
  Write(word + std::string((64 << 10) - word.size() + 1, ' '));
  EXPECT_FALSE(Hear());
  Write(word);
  std::filesystem::rename(Path(), folder_ + "/other");
  std::filesystem::create_symlink(folder_ + "/other", Path());
  EXPECT_FALSE(Hear());
  std::filesystem::remove(Path());
  ASSERT_EQ(::mkfifo(Path().c_str(), 0600), 0);
  EXPECT_FALSE(Hear());
  std::filesystem::remove(Path());
  std::filesystem::create_directory(Path());
  EXPECT_FALSE(Hear());
}

}  // namespace
}  // namespace witness
