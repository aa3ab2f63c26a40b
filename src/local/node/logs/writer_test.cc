#include "local/node/logs/writer.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "base/file.h"
#include "base/strings.h"
#include "local/node/logs/reader.h"
#include "local/node/testing/pod_fixture.h"

namespace local::node {
namespace {

const base::Time kWritten = *base::ParseRfc3339("2026-07-30T10:00:00Z");
constexpr std::string_view kStamp = "2026-07-30T10:00:00.000000000Z";

class LogWriterTest : public PodTest {
 protected:
  std::string Path() const { return root_ + "/0.log"; }
  // The file without its timestamps.
  std::string Records() const {
    std::string text;
    for (const std::string& record : base::Split(*base::ReadFile(Path()), '\n')) {
      if (record.empty()) continue;
      EXPECT_TRUE(record.starts_with(kStamp)) << record;
      text += record.substr(kStamp.size() + 1) + "\n";
    }
    return text;
  }
};

TEST_F(LogWriterTest, WritesWholeLinesAtOnceAndKeepsTheRest) {
  LogWriter log(Path());
  log.Append(LogStream::kStdout, "one\ntwo\nthr", kWritten);
  EXPECT_EQ(Records(), "stdout F one\nstdout F two\n");
  EXPECT_TRUE(log.HasPartial(LogStream::kStdout));
  log.Append(LogStream::kStderr, "err\n", kWritten);
  log.Append(LogStream::kStdout, "ee\n", kWritten);
  EXPECT_FALSE(log.HasPartial(LogStream::kStdout));
  EXPECT_EQ(Records(), "stdout F one\nstdout F two\nstderr F err\nstdout F three\n");
}

TEST_F(LogWriterTest, KeepsTheNewestOfALongLogAndSaysThatItWasCut) {
  constexpr uint64_t kLimit = 1 << 20;
  LogWriter log(Path(), kLimit);
  auto follower = LogReader::Open(Path());
  std::string line(999, 'x');
  for (int i = 0; i < 10'000; ++i) {
    log.Append(LogStream::kStdout, std::to_string(i) + " " + line + "\n", kWritten);
    if (!follower) follower = LogReader::Open(Path());
  }
  struct stat info{};
  ASSERT_EQ(::stat(Path().c_str(), &info), 0);
  if (info.st_blocks * 512 > 10'000'000) GTEST_SKIP() << "no holes on this file system";
  EXPECT_LE(static_cast<uint64_t>(info.st_blocks) * 512, kLimit + (128 << 10));

  const auto read_all = [](LogReader& reader) {
    std::string text;
    LogReader::Format format;
    while (*reader.Read(format, 64 << 10, text)) {
    }
    return text;
  };
  auto whole = LogReader::Open(Path());
  ASSERT_TRUE(whole);
  const std::string text = read_all(*whole);
  EXPECT_TRUE(text.starts_with("muster: log truncated: ")) << text.substr(0, 100);
  EXPECT_GE(text.size(), kLimit / 3);
  EXPECT_NE(text.find("\n9999 xxx"), std::string::npos);
  EXPECT_EQ(text.find('\0'), std::string::npos);
  EXPECT_EQ(read_all(*follower), text) << "who was behind goes on where the log does";

  auto tail = LogReader::Open(Path());
  ASSERT_TRUE(tail->SeekToTail(1'000'000));
  EXPECT_EQ(read_all(*tail), text);
  auto last = LogReader::Open(Path());
  ASSERT_TRUE(last->SeekToTail(1));
  EXPECT_EQ(read_all(*last), "9999 " + line + "\n");
  auto since = LogReader::Open(Path());
  ASSERT_TRUE(since->SkipTo(kWritten));
  EXPECT_EQ(read_all(*since), text);
}

TEST_F(LogWriterTest, AnUnfinishedLineIsPartialUntilItsEnd) {
  LogWriter log(Path());
  log.Append(LogStream::kStdout, "10%", kWritten);
  log.FlushPartial(LogStream::kStdout, kWritten);
  log.FlushPartial(LogStream::kStdout, kWritten);
  log.Append(LogStream::kStdout, " 20%", kWritten);
  log.FlushPartial(LogStream::kStdout, kWritten);
  log.End(LogStream::kStdout, kWritten);
  log.End(LogStream::kStderr, kWritten);
  EXPECT_EQ(Records(), "stdout P 10%\nstdout P  20%\nstdout F \n");
}

TEST_F(LogWriterTest, ALastLineWithoutNewlineIsALine) {
  LogWriter log(Path());
  log.Append(LogStream::kStdout, "bye", kWritten);
  log.End(LogStream::kStdout, kWritten);
  EXPECT_EQ(Records(), "stdout F bye\n");
}

TEST_F(LogWriterTest, CutsLongLinesIntoPieces) {
  LogWriter log(Path());
  const std::string line(2 * kMaxLogPiece + 5, 'x');
  log.Append(LogStream::kStdout, line + "\n", kWritten);
  const std::string piece(kMaxLogPiece, 'x');
  EXPECT_EQ(Records(), "stdout P " + piece + "\nstdout P " + piece + "\nstdout F xxxxx\n");
}

TEST_F(LogWriterTest, NothingPrintedNothingMade) {
  LogWriter log(Path());
  log.End(LogStream::kStdout, kWritten);
  EXPECT_NE(::access(Path().c_str(), F_OK), 0);
}

TEST_F(LogWriterTest, WhateverThePiecesTheOutputIsTheSame) {
  std::mt19937 random(7);
  for (int run = 0; run < 50; ++run) {
    const std::string path = fmt::format("{}/{}.log", root_, run);
    LogWriter log(path);
    std::string expected;
    for (int i = 0; i < 20; ++i) {
      std::string piece(random() % (run % 5 == 0 ? 40'000 : 20), 'x');
      for (char& c : piece) c = random() % 8 == 0 ? '\n' : static_cast<char>('a' + random() % 26);
      log.Append(LogStream::kStdout, piece, kWritten);
      expected += piece;
      if (random() % 3 == 0) log.FlushPartial(LogStream::kStdout, kWritten);
    }
    log.End(LogStream::kStdout, kWritten);
    if (!expected.empty() && expected.back() != '\n') expected += '\n';
    std::string text;
    if (auto reader = LogReader::Open(path)) {
      LogReader::Format format;
      while (*reader->Read(format, 100, text)) {
      }
    }
    ASSERT_EQ(text, expected) << run;
  }
}

// A file size limit, in a child process, stands for a full disk.
TEST_F(LogWriterTest, DropsCountsAndNotesWhatDoesNotFit) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit large{};
    ::getrlimit(RLIMIT_FSIZE, &large);
    const rlimit small{1000, large.rlim_max};
    LogWriter log(Path());
    log.Append(LogStream::kStdout, "before\n", kWritten);
    ::setrlimit(RLIMIT_FSIZE, &small);
    for (int i = 0; i < 100; ++i)
      log.Append(LogStream::kStdout, "0123456789\nabcdefghi\n", kWritten);
    const uint64_t lost = log.lost_bytes();
    ::setrlimit(RLIMIT_FSIZE, &large);
    log.Append(LogStream::kStdout, "after\n", kWritten);
    ::_exit(lost > 1000 && lost == log.lost_bytes() &&
                    log.LossNote() ==
                        fmt::format("log truncated: File too large, {} bytes lost", lost)
                ? 0
                : 1);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  const std::string records = Records();  // each is whole
  EXPECT_TRUE(records.starts_with("stdout F before\nstdout F 0123456789\nstdout F abcdefghi\n"));
  const std::vector<std::string> lines = base::Split(records, '\n');
  ASSERT_GT(lines.size(), 4u);
  EXPECT_EQ(lines[lines.size() - 2], "stdout F after");
  EXPECT_TRUE(
      lines[lines.size() - 3].starts_with("stderr F muster: log truncated: File too large"));
  size_t kept = 0;
  for (size_t i = 1; i + 3 < lines.size(); ++i) kept += lines[i].size() - 8;
  EXPECT_NE(lines[lines.size() - 3].find(fmt::format(", {} bytes lost", 2100 - kept)),
            std::string::npos)
      << lines[lines.size() - 3] << " kept " << kept;
}

TEST(OutputTail, KeepsTheLastLines) {
  OutputTail tail;
  EXPECT_EQ(tail.Text(), "");
  std::string last;
  for (int i = 0; i < 50; ++i) {
    const std::string line = fmt::format("line {}\n", i);
    tail.Append(line);
    if (i >= 50 - 24) last += line;
  }
  last.pop_back();
  EXPECT_EQ(tail.Text(), last);
  tail.Append(std::string(5000, 'x'));
  EXPECT_EQ(tail.Text(), std::string(2048, 'x'));
}

TEST(OutputTail, IsValidText) {
  OutputTail tail;
  tail.Append("a\xff b\xc3\xa9 \xe2\x82\xac \xed\xa0\x80\n\n");
  EXPECT_EQ(tail.Text(),
            "a\xef\xbf\xbd b\xc3\xa9 \xe2\x82\xac \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

}  // namespace
}  // namespace local::node
