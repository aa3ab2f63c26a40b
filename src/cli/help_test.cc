#include "cli/help.h"

#include <gtest/gtest.h>

namespace cli {
namespace {

TEST(HelpPage, ItsParagraphsAreWrappedAndItsExamplesIndented) {
  const HelpPage page = ParseHelpPage(
      "Shows\na job, by {program}.\n\n  as  written\n\n## Examples\n\n```sh\n"
      "{program} get x   # why it waits\n\n{program} run {lr}\n```\n",
      "muster");
  EXPECT_EQ(page.text, "Shows a job, by muster.\n\n  as  written\n");
  EXPECT_EQ(page.example, "  muster get x   # why it waits\n\n  muster run {lr}\n");
}

TEST(HelpPage, LinesAreNotLongerThan80Columns) {
  std::string words;
  for (int i = 0; i < 100; ++i) words += "word ";
  std::string line;
  for (const char c : ParseHelpPage(words, "muster").text) {
    line = c == '\n' ? "" : line + c;
    ASSERT_LE(line.size(), 80U);
  }
}

TEST(HelpPage, AProgramsOwnPageGoesFirst) {
  EXPECT_EQ(HelpPageOf("arena/history/get", "pytorch").text,
            HelpPageOf("arena/history/get", "muster").text);
  EXPECT_NE(HelpPageOf("arena/history/get", "arena").example,
            HelpPageOf("arena/history/get", "muster").example);
}

TEST(HelpPage, EachHasAText) {
  for (const auto& [path, markdown] : HelpPages()) {
    EXPECT_FALSE(ParseHelpPage(markdown, "muster").text.empty()) << path;
  }
}

}  // namespace
}  // namespace cli
