#include "base/printable.h"

#include <gtest/gtest.h>

namespace base {
namespace {

TEST(Printable, LeavesNamesThatATerminalMayShow) {
  for (const char* const name : {"train.py", "a b", "it's", "größe.txt", "日本", ""}) {
    EXPECT_EQ(Printable(name), name);
  }
}

TEST(Printable, WritesControlCharactersAsAShellReadsThem) {
  EXPECT_EQ(Printable("a\x1b[2Jb"), "$'a\\x1b[2Jb'");
  EXPECT_EQ(Printable("it's\n\\"), "$'it\\'s\\x0a\\\\'");
  EXPECT_EQ(Printable("\x7f"), "$'\\x7f'");
  EXPECT_EQ(Printable("\xc2\x9b"
                      "2J"),
            "$'\\xc2\\x9b2J'");
  EXPECT_EQ(Printable("\xff"), "$'\\xff'");
}

TEST(Printable, MeasuresOneCharacter) {
  EXPECT_EQ(PrintableLength("ab"), 1U);
  EXPECT_EQ(PrintableLength("öa"), 2U);
  EXPECT_EQ(PrintableLength("日"), 3U);
  for (const char* const text : {"", "\n", "\x7f", "\xc2\x9b", "\xc3", "\x9b"}) {
    EXPECT_EQ(PrintableLength(text), 0U);
  }
}

}  // namespace
}  // namespace base
