#include "cli/table.h"

#include <gtest/gtest.h>

#include "cli/terminal.h"

namespace cli {
namespace {

TEST(Table, PadsEveryColumnButTheLast) {
  Table table;
  table.Row({"NAME", "STATUS", "NODE"});
  table.Row({"pt", "RUNNING", "10.0.0.1"});
  table.Row({"a-long-name", "", "x"});
  EXPECT_EQ(table.Render(),
            "NAME         STATUS   NODE\n"
            "pt           RUNNING  10.0.0.1\n"
            "a-long-name           x\n");
}

TEST(Table, ABlankLineEndsTheColumns) {
  Table table;
  table.Row({"CreateTime:", "now"});
  table.Row({"EndTime:", ""});
  table.Row({});
  table.Row({"A:", "b"});
  EXPECT_EQ(table.Render(), "CreateTime:  now\nEndTime:     \n\nA:  b\n");
}

TEST(Table, AShorterRowEndsTheColumnsItDoesNotReach) {
  Table table("  ");
  table.Row({"a", "bbbb", "c"});
  table.Row({"alone"});
  table.Row({"aaa", "b", "c"});
  EXPECT_EQ(table.Render(), "  a  bbbb  c\n  alone\n  aaa  b  c\n");
}

TEST(Table, CountsCodePoints) {
  Table table;
  table.Row({"é", "x"});
  table.Row({"ab", "y"});
  EXPECT_EQ(table.Render(), "é   x\nab  y\n");
}

class Terminal : public StringOutput {
 public:
  bool IsTerminal() const override { return true; }
  int Width() const override { return 9; }
};

TEST(BottomLines, AreDrawnOverThemselvesAndTakenAway) {
  Terminal out;
  BottomLines lines(out);
  lines.Draw({"abcdefghijkl"});
  lines.Draw({"abcdefghijkl"});
  lines.Draw({"a", "b"});
  lines.Draw({"c"});
  lines.Clear();
  lines.Clear();
  EXPECT_EQ(out.text(),
            "\rabc...jkl\x1b[K"
            "\ra\x1b[K\nb\x1b[K"
            "\r\x1b[Ac\x1b[K\x1b[J"
            "\r\x1b[K");
}

TEST(ElideMiddle, KeepsWhatFits) {
  EXPECT_EQ(ElideMiddle("abc", 3), "abc");
  EXPECT_EQ(ElideMiddle("abcdefgh", 7), "ab...gh");
  EXPECT_EQ(ElideMiddle("abcdefgh", 2), "..");
  EXPECT_EQ(ElideMiddle("█████", 5), "█████");
  EXPECT_EQ(ElideMiddle("██████", 5), "█...█");
}

TEST(Table, ColoursTakeNoColumns) {
  EXPECT_EQ(TextWidth("\x1b[31mFAILED\x1b[0m"), 6U);
  EXPECT_EQ(TextWidth("\x1b[31"), 0U);
  Table table;
  table.Row({"\x1b[31mA\x1b[0m", "x"});
  table.Row({"BB", "y"});
  EXPECT_EQ(table.Render(), "\x1b[31mA\x1b[0m   x\nBB  y\n");
}

}  // namespace
}  // namespace cli
