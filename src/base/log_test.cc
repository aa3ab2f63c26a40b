#include "base/log.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <string>

#include "base/defer.h"
#include "base/fd.h"

namespace base {
namespace {

// What `write` sends to stderr while `to` stands for it, read from `from`.
template <typename F>
std::string Captured(Fd from, Fd to, F write) {
  const Fd saved(dup(STDERR_FILENO));
  dup2(to.get(), STDERR_FILENO);
  write();
  dup2(saved.get(), STDERR_FILENO);
  to.Reset();
  std::string text;
  char buffer[4096];
  ssize_t count = 0;
  while ((count = read(from.get(), buffer, sizeof buffer)) > 0) {
    text.append(buffer, static_cast<size_t>(count));
  }
  return text;
}

template <typename F>
std::string ToPipe(F write) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  return Captured(Fd(ends[0]), Fd(ends[1]), write);
}

template <typename F>
std::string ToTerminal(F write) {
  int master = -1;
  int slave = -1;
  EXPECT_EQ(openpty(&master, &slave, nullptr, nullptr, nullptr), 0);
  return Captured(Fd(master), Fd(slave), write);
}

// The line without `time="..." `, whose format is checked.
std::string WithoutTime(const std::string& line) {
  constexpr std::string_view kShape = "time=\"2026-07-30T10:00:00Z\" ";
  EXPECT_TRUE(line.starts_with("time=\"20")) << line;
  EXPECT_EQ(line.find("Z\" "), kShape.size() - 3) << line;
  return line.size() > kShape.size() ? line.substr(kShape.size()) : "";
}

TEST(Log, WritesKeysAndValuesWhenNotOnATerminal) {
  EXPECT_EQ(WithoutTime(ToPipe([] { LogInfo("job {} is {}", "a", 1); })),
            "level=info msg=\"job a is 1\"\n");
  EXPECT_EQ(WithoutTime(ToPipe([] { LogWarn("x y"); })), "level=warning msg=\"x y\"\n");
  EXPECT_EQ(WithoutTime(ToPipe([] { LogWarn("a\x1b[2J"); })), "level=warning msg=\"a\\x1b[2J\"\n");
  EXPECT_EQ(WithoutTime(ToPipe([] { LogError("x y"); })), "level=error msg=\"x y\"\n");
  EXPECT_EQ(WithoutTime(ToPipe([] { Log(LogLevel::kFatal, "x y"); })), "level=fatal msg=\"x y\"\n");
}

TEST(Log, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(WithoutTime(ToPipe([] { LogInfo("done"); })), "level=info msg=done\n");
  EXPECT_EQ(WithoutTime(ToPipe([] { LogInfo("say \"a\\b\"\n\t\x01\x7f"); })),
            "level=info msg=\"say \\\"a\\\\b\\\"\\n\\t\\x01\\x7f\"\n");
}

TEST(Log, IsColouredOnATerminal) {
  const std::string line = ToTerminal([] { LogInfo("hello there"); });
  EXPECT_TRUE(line.starts_with("\x1b[36mINFO\x1b[0m[0")) << line;
  // logrus pads the message to 44 columns and a blank.
  EXPECT_TRUE(line.ends_with("] hello there" + std::string(44 - 11, ' ') + " \n") ||
              line.ends_with("] hello there" + std::string(44 - 11, ' ') + " \r\n"))
      << line;
  EXPECT_TRUE(ToTerminal([] { LogError("x"); }).starts_with("\x1b[31mERRO\x1b[0m["));
  EXPECT_TRUE(ToTerminal([] { Log(LogLevel::kFatal, "x"); }).starts_with("\x1b[31mFATA\x1b[0m["));
}

TEST(Log, SendsATerminalNothingThatItWouldObey) {
  const std::string shown = ToTerminal([] {
    LogWarn(
        "größe\x1b[2J\xc2\x9b"
        "2J \xff.");
  });
  EXPECT_NE(shown.find("größe\\x1b[2J\\xc2\\x9b2J \\xff."), std::string::npos) << shown;
  const std::string lines = ToTerminal([] { LogWarn("a\tb\nc"); });
  EXPECT_EQ(lines.find('\\'), std::string::npos) << lines;
  const std::string field = ToTerminal([] {
    Log(LogLevel::kWarn, "x",
        {{"file",
          "größe\xc2\x9b"
          "2J \xff\t."}});
  });
  EXPECT_NE(field.find("file=\"größe\\xc2\\x9b2J \\xff\\t.\""), std::string::npos) << field;
}

TEST(Log, ShowsTheLevelAndAbove) {
  const Defer restore([] { SetLogLevel(LogLevel::kInfo); });
  EXPECT_EQ(ToPipe([] { LogDebug("x"); }), "");
  SetLogLevel(LogLevel::kDebug);
  EXPECT_EQ(WithoutTime(ToPipe([] { LogDebug("x"); })), "level=debug msg=x\n");
  SetLogLevel(LogLevel::kError);
  EXPECT_EQ(ToPipe([] { LogWarn("x"); }), "");
  EXPECT_NE(ToPipe([] { LogError("x"); }), "");
}

TEST(Log, ParsesLevels) {
  EXPECT_EQ(ParseLogLevel("debug").value(), LogLevel::kDebug);
  EXPECT_EQ(ParseLogLevel("warn").value(), LogLevel::kWarn);
  EXPECT_EQ(ParseLogLevel("loud").error().message,
            "unknown loglevel,only support:[info,debug,error,warn]");
}

}  // namespace
}  // namespace base
