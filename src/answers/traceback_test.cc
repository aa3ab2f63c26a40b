#include "answers/traceback.h"

#include <gtest/gtest.h>

#include <string>

#include "answers/files/read_log.h"

namespace answers {
namespace {

std::string Box(const std::string& content) {
  return "╭────────────── Traceback (most recent call last) ───────────────╮\n" + content +
         "╰────────────────────────────────────────────────────────────────╯\n";
}

const std::string kDrawnFrame =
    "│ /w/train.py:1170 in load_latents                                │\n"
    "│ ❱ 1170 │   npz = np.load(path)                                  │\n";

std::string TypeIn(const std::string& log) {
  const std::vector<Line> lines = ReadLines(log, 100);
  const std::vector<Chain> chains = FindChains(lines);
  return chains.empty() ? "" : std::string(chains[0].raised[0].Type());
}

TEST(Traceback, BelowABoxOfRichStandsTheExceptionWhateverItsType) {
  const std::vector<Line> lines =
      ReadLines(Box(kDrawnFrame) + "BadZipFile: File is not a zip file\n", 100);
  const std::vector<Chain> chains = FindChains(lines);
  ASSERT_EQ(chains.size(), 1U);
  EXPECT_EQ(chains[0].raised[0].text, "BadZipFile: File is not a zip file");
  ASSERT_EQ(chains[0].raised[0].frames.size(), 1U);
  EXPECT_EQ(chains[0].raised[0].frames[0].line, 1170);
  EXPECT_EQ(TypeIn(Box(kDrawnFrame) + "KeyError: 'k'\n"), "KeyError");
}

TEST(Traceback, ALineBelowAnotherBoxIsNone) {
  EXPECT_EQ(TypeIn(Box("│ Missing option '--data'.                                       │\n") +
                   "Usage: train.py [OPTIONS]\n"),
            "");
  EXPECT_EQ(TypeIn(Box(kDrawnFrame) + "WARNING: closing\n"), "");
  EXPECT_EQ(TypeIn(Box(kDrawnFrame) + "\nBadZipFile: File is not a zip file\n"), "");
  EXPECT_EQ(TypeIn("BadZipFile: File is not a zip file\n"), "");
}

}  // namespace
}  // namespace answers
