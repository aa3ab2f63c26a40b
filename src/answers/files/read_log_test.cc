#include "answers/files/read_log.h"

#include <gtest/gtest.h>

namespace answers {
namespace {

TEST(ReadLogs, TheTrialThatIsAskedForHoweverManyLinesOfOthersFollow) {
  std::string log = "[lr=1] Traceback (most recent call last):\n[lr=1] ValueError: one\n";
  for (int step = 0; step < 20'001; ++step) log += "[lr=2] step " + std::to_string(step) + "\n";
  const Evidence evidence = ReadLogs({{"log", log, std::nullopt, "lr=1"}});
  ASSERT_EQ(evidence.ranks.size(), 1u);
  ASSERT_EQ(evidence.ranks[0].lines.size(), 2u);
  EXPECT_EQ(evidence.ranks[0].lines.back().text, "ValueError: one");
  const Evidence other = ReadLogs({{"log", log, std::nullopt, "lr=2"}});
  ASSERT_EQ(other.ranks.size(), 1u);
  EXPECT_EQ(other.ranks[0].lines.size(), 20'000u);
  EXPECT_EQ(other.ranks[0].lines.back().text, "step 20000");
}

}  // namespace
}  // namespace answers
