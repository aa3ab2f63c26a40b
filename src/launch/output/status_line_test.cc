#include "launch/output/status_line.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "base/fd.h"

namespace launch {
namespace {

TEST(FitToColumns, CutsBetweenCharactersAndDropsControls) {
  EXPECT_EQ(FitToColumns("2 ranks", 80), "2 ranks");
  EXPECT_EQ(FitToColumns("2 ranks", 3), "2 r");
  EXPECT_EQ(FitToColumns("a\x1b[31m\tb\n", 80), "a [31m b ");
  EXPECT_EQ(FitToColumns("aäb", 2), "a");
  EXPECT_EQ(FitToColumns("aäb", 3), "aä");
  EXPECT_EQ(FitToColumns("ä", 0), "");
}

TEST(VisibleText, IsWithoutColoursAndWhatWasWrittenOver) {
  EXPECT_EQ(VisibleText("\x1b[1;31mred\x1b[0m text\x1b[K"), "red text");
  EXPECT_EQ(VisibleText("\r 10%\r 20%\r"), " 20%");
  EXPECT_EQ(VisibleText("end\r"), "end");
  for (const char* rest : {"\x1b[", "\x1b[31", "\r\r", ""}) EXPECT_EQ(VisibleText(rest), "");
  EXPECT_EQ(VisibleText("a\x1b"), "a\x1b");
}

TEST(StatusLineTest, IsDrawnOnceAndErasedBeforeOthersWrite) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const base::Fd reader(ends[0]);
  base::Fd writer(ends[1]);
  StatusLine line(writer.get());
  line.Erase();
  line.Draw("one");
  line.Draw("one");
  line.Draw("two");
  line.Erase();
  line.Erase();
  line.Draw("two");
  writer.Reset();
  char bytes[256];
  const ssize_t count = ::read(reader.get(), bytes, sizeof bytes);
  ASSERT_GT(count, 0);
  EXPECT_EQ(std::string(bytes, static_cast<size_t>(count)),
            "\r\x1b[2mone\x1b[0m\x1b[K\r\x1b[2mtwo\x1b[0m\x1b[K\r\x1b[K\r\x1b[2mtwo\x1b[0m\x1b[K");
}

}  // namespace
}  // namespace launch
