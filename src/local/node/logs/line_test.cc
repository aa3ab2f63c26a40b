#include "local/node/logs/line.h"

#include <gtest/gtest.h>

namespace local::node {
namespace {

TEST(LogLine, ReadsWhatTheFormatAllows) {
  const auto line = ParseLogLine("2026-07-30T10:00:00.000000001Z stderr P half a line");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->timestamp, "2026-07-30T10:00:00.000000001Z");
  EXPECT_EQ(line->stream, LogStream::kStderr);
  EXPECT_TRUE(line->is_partial);
  EXPECT_EQ(line->text, "half a line");
  EXPECT_EQ(ParseLogLine("2026-07-30T10:00:00Z stdout F ")->text, "");
  EXPECT_EQ(ParseLogLine("2026-07-30T10:00:00Z stdout F")->text, "");
  EXPECT_EQ(ParseLogLine("2026-07-30T10:00:00Z stdout F  two spaces")->text, " two spaces");
  EXPECT_TRUE(ParseLogLine("2026-07-30T10:00:00Z stdout P:x y")->is_partial);
}

TEST(LogLine, RefusesTheRest) {
  for (const char* const record :
       {"", "text", "2026-07-30T10:00:00Z", "2026-07-30T10:00:00Z stdin F x",
        "2026-07-30T10:00:00Z stdout X x", "short stdout F x"}) {
    EXPECT_FALSE(ParseLogLine(record)) << record;
  }
}

TEST(LogLine, WritesWhatItReads) {
  const base::Time time = *base::ParseRfc3339("2026-07-30T10:00:00.123456Z");
  EXPECT_EQ(FormatLogTime(time), "2026-07-30T10:00:00.123456000Z");
  std::string record;
  AppendLogLine({FormatLogTime(time), LogStream::kStdout, false, "a b"}, record);
  EXPECT_EQ(record, "2026-07-30T10:00:00.123456000Z stdout F a b\n");
}

}  // namespace
}  // namespace local::node
