#include "answers/stall/straggler.h"

#include <gtest/gtest.h>

namespace answers {
namespace {

constexpr int64_t kMillisecond = 1'000'000;

// A collective each 100 ms; rank 1 comes `late` after rank 0.
std::map<int, Trace> Traces(int collectives, int64_t late_ms, int of_them) {
  std::map<int, Trace> traces;
  for (int64_t number = 1; number <= collectives; ++number) {
    const int64_t at = 100 * number * kMillisecond;
    const int64_t late = number <= of_them ? late_ms * kMillisecond : -kMillisecond;
    traces[0]["0"].collectives[number] = {"all_reduce", "", "", at};
    traces[1]["0"].collectives[number] = {"all_reduce", "", "", at + late};
  }
  return traces;
}

TEST(Straggler, IsTheRankThatComesLastNearlyEachTime) {
  const auto found = StragglerOf(Traces(100, 30, 97));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 1);
  EXPECT_EQ(Say(*found),
            "rank 1 is late at collectives: the last at 97 of 100, by 30 ms of 100 ms");
}

TEST(Straggler, IsNobodyWhoIsLateNowAndThenOrByLittle) {
  EXPECT_FALSE(StragglerOf(Traces(100, 30, 60)));
  EXPECT_FALSE(StragglerOf(Traces(100, 4, 100)));
  EXPECT_FALSE(StragglerOf(Traces(100, 9, 100)));
  EXPECT_FALSE(StragglerOf(Traces(10, 30, 10)));
  EXPECT_FALSE(StragglerOf({}));
}

TEST(Straggler, TheLastCollectiveOfARankThatIsGone) {
  Trace trace;
  EXPECT_EQ(LastCollectiveOf(trace), "");
  trace["0"].entered = 412;
  trace["0"].completed = 411;
  EXPECT_EQ(LastCollectiveOf(trace), "had entered collective #412 and finished #411");
  trace["0"].collectives[412] = {"all_reduce", "", "", 5};
  EXPECT_EQ(LastCollectiveOf(trace), "had entered all_reduce #412 and finished #411");
  trace["0"].completed = 412;
  EXPECT_EQ(LastCollectiveOf(trace), "had finished all_reduce #412");
  trace["1"].entered = 7;
  trace["1"].collectives[7] = {"barrier", "", "", 9};
  EXPECT_EQ(LastCollectiveOf(trace), "had entered barrier #7 and finished #0");
}

}  // namespace
}  // namespace answers
