#include "local/node/logs/reader.h"

#include "local/node/logs/line.h"
#include "local/node/testing/pod_fixture.h"

namespace local::node {
namespace {

class LogReaderTest : public PodTest {
 protected:
  std::string Path() const { return root_ + "/0.log"; }
  void Write(const std::string& content) {
    ASSERT_TRUE(base::WriteFileAtomic(Path(), content, 0600, base::Durability::kNone));
  }
  // `count` lines, one per second: "line 0", "line 1", ...
  void WriteLines(int count) {
    std::string content;
    for (int i = 0; i < count; ++i) {
      AppendLogLine({FormatLogTime(At(i)), LogStream::kStdout, false, fmt::format("line {}", i)},
                    content);
    }
    Write(content);
  }
  static base::Time At(int second) {
    return *base::ParseRfc3339("2026-07-30T10:00:00Z") + std::chrono::seconds(second);
  }
  static std::string ReadAll(LogReader& reader, LogReader::Format format = {}) {
    std::string text;
    while (*reader.Read(format, 1 << 10, text)) {
    }
    return text;
  }
  std::string Tail(int64_t lines) {
    auto reader = LogReader::Open(Path());
    EXPECT_TRUE(reader->SeekToTail(lines));
    return ReadAll(*reader);
  }
  std::string Since(base::Time time) {
    auto reader = LogReader::Open(Path());
    EXPECT_TRUE(reader->SkipTo(time));
    return ReadAll(*reader);
  }
};

constexpr const char* kT = "2026-07-30T10:00:00.000000000Z ";

TEST_F(LogReaderTest, JoinsPartialRecords) {
  Write(fmt::format("{0}stdout P 10%\n{0}stdout P  20%\n{0}stdout F  30%\n{0}stderr F done\n", kT));
  auto reader = LogReader::Open(Path());
  EXPECT_EQ(ReadAll(*reader), "10% 20% 30%\ndone\n");
}

TEST_F(LogReaderTest, AnOpenLineDoesNotContinueWithTheOtherStream) {
  Write(
      fmt::format("{0}stdout P epoch 1: \n{0}stderr F Traceback\n{0}stderr F Error\n{0}stdout F \n"
                  "{0}stderr P 10%\n{0}stdout F step\n{0}stderr F  20%\n{0}stdout F \n",
                  kT));
  auto reader = LogReader::Open(Path());
  EXPECT_EQ(ReadAll(*reader), "epoch 1: \nTraceback\nError\n10%\nstep\n 20%\n\n");
  EXPECT_EQ(Tail(4), "10%\nstep\n 20%\n\n");
  EXPECT_EQ(Tail(2), " 20%\n\n");
}

TEST_F(LogReaderTest, PutsOneTimestampOnEachLine) {
  Write(fmt::format("{0}stdout P a\n{0}stdout F b\n{0}stdout F c\n", kT));
  auto reader = LogReader::Open(Path());
  EXPECT_EQ(ReadAll(*reader, {true, std::nullopt}), fmt::format("{0}ab\n{0}c\n", kT));
}

TEST_F(LogReaderTest, LeavesWhatIsStillBeingWritten) {
  Write(fmt::format("{0}stdout F a\n{0}stdout F b", kT));
  auto reader = LogReader::Open(Path());
  EXPECT_EQ(ReadAll(*reader), "a\n");
  EXPECT_EQ(Tail(1), "a\n");
}

TEST_F(LogReaderTest, ShowsForeignLinesAsTheyAre) {
  Write(fmt::format("not a record\n{0}stdout F a\n", kT));
  auto reader = LogReader::Open(Path());
  EXPECT_EQ(ReadAll(*reader), "not a record\na\n");
}

TEST_F(LogReaderTest, TailCountsLinesNotRecords) {
  Write(fmt::format("{0}stdout F a\n{0}stdout P b1\n{0}stdout F b2\n{0}stdout F c\n", kT));
  EXPECT_EQ(Tail(0), "");
  EXPECT_EQ(Tail(1), "c\n");
  EXPECT_EQ(Tail(2), "b1b2\nc\n");
  EXPECT_EQ(Tail(3), "a\nb1b2\nc\n");
  EXPECT_EQ(Tail(99), "a\nb1b2\nc\n");
  Write(fmt::format("{0}stdout F a\n{0}stdout P open\n", kT));
  EXPECT_EQ(Tail(1), "open");
  Write("");
  EXPECT_EQ(Tail(3), "");
}

TEST_F(LogReaderTest, TailReadsBackwardsOverBlocks) {
  WriteLines(20000);
  for (const int lines : {1, 2, 1000, 5000, 19999, 20000}) {
    std::string expected;
    for (int i = 20000 - lines; i < 20000; ++i) expected += fmt::format("line {}\n", i);
    EXPECT_EQ(Tail(lines), expected) << lines;
  }
}

TEST_F(LogReaderTest, SinceStartsAtTheFirstLineThatIsYoungEnough) {
  WriteLines(3000);
  for (const int second : {-5, 0, 1, 2, 17, 1500, 2998, 2999}) {
    std::string expected;
    for (int i = std::max(second, 0); i < 3000; ++i) expected += fmt::format("line {}\n", i);
    EXPECT_EQ(Since(At(second)), expected) << second;
  }
  EXPECT_EQ(Since(At(1499) + std::chrono::microseconds(1)).substr(0, 10), "line 1500\n");
  EXPECT_EQ(Since(At(3000)), "");
}

TEST_F(LogReaderTest, TheLimitIsExact) {
  WriteLines(10);
  auto reader = LogReader::Open(Path());
  EXPECT_EQ(ReadAll(*reader, {false, 10}), "line 0\nlin");
  auto again = LogReader::Open(Path());
  EXPECT_EQ(ReadAll(*again, {false, 0}), "");
}

TEST_F(LogReaderTest, AbsentIsNotFound) {
  const auto reader = LogReader::Open(Path());
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().code, base::Code::kNotFound);
}

}  // namespace
}  // namespace local::node
