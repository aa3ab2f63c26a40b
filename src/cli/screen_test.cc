#include "cli/screen.h"

#include <gtest/gtest.h>

namespace cli {
namespace {

std::string RowOf(const Screen& screen, size_t row) {
  std::string text;
  for (size_t column = 0; column < screen.width(); ++column) {
    const char32_t glyph = screen.at(column, row).glyph;
    text += glyph < 0x80 ? static_cast<char>(glyph) : '#';
  }
  return text;
}

TEST(Screen, CutsWhatDoesNotFit) {
  Screen screen(10, 2);
  EXPECT_EQ(screen.Put(8, 0, "abcd"), 10u);
  EXPECT_EQ(screen.Put(0, 1, "abcdef", Style::kPlain, 3), 3u);
  screen.Put(0, 2, "outside");
  EXPECT_EQ(RowOf(screen, 0), "        a#");
  EXPECT_EQ(RowOf(screen, 1), "ab#       ");
}

TEST(Screen, NothingThatALogHoldsReachesTheTerminal) {
  Screen screen(20, 1);
  screen.Put(0, 0, "a\x1b[2Jb\tc\r\n\xff\xe4\xb8\x96\xf0\x9f\x98\x80\xc3\xa9\xe2\xa0\x81");
  EXPECT_EQ(RowOf(screen, 0), "a [2Jb c  ???##     ");
  const std::string text = Changes(Screen(20, 1), screen, true);
  EXPECT_EQ(text.find('\x1b', 1), std::string::npos) << text;
}

TEST(Changes, SendsOnlyWhatChanged) {
  Screen before(40, 10);
  before.Put(0, 3, "step 10 loss 0.5");
  Screen after = before;
  after.Put(6, 3, "1");
  EXPECT_EQ(Changes(before, after, true), "\x1b[4;7H1");
  EXPECT_EQ(Changes(after, after, true), "");
}

TEST(Changes, StylesAreSetOnceAndTakenBack) {
  Screen after(10, 1);
  after.Put(0, 0, "ab", Style::kBad);
  after.Put(2, 0, "c");
  EXPECT_EQ(Changes(Screen(10, 1), after, true), "\x1b[1;1H\x1b[0;31mab\x1b[0mc");
  EXPECT_EQ(Changes(Screen(10, 1), after, false), "\x1b[1;1H\x1b[0;1mab\x1b[0mc");
}

TEST(Changes, OfAnotherSizeAllIsDrawn) {
  Screen after(5, 2);
  after.Put(0, 1, "x");
  EXPECT_EQ(Changes(Screen(3, 3), after, true), "\x1b[0m\x1b[2J\x1b[2;1Hx");
}

}  // namespace
}  // namespace cli
