#include "answers/stall/straggler.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <utility>

namespace answers {
namespace {

constexpr int64_t kMillisecond = 1'000'000;

// A training of `ranks` ranks in steps of 500 ms with `buckets` collectives each, 10 ms apart.
// `late_ms` returns, by rank and step, how much later than the others a rank comes to all of them.
using LateMs = std::function<int64_t(int rank, int step)>;
void Train(StragglerWatch& watch, int ranks, int buckets, int steps, const LateMs& late_ms,
           int collectives_of_a_look = 128) {
  std::map<int, Trace> traces;
  int number = 0;
  for (int step = 0; step < steps; ++step) {
    for (int bucket = 0; bucket < buckets; ++bucket) {
      ++number;
      const int64_t at = (500 * step + 10 * bucket + 1) * kMillisecond;
      for (int rank = 0; rank < ranks; ++rank) {
        traces[rank]["0"].collectives[number] = {"all_reduce", std::to_string(bucket), "Float",
                                                 at + late_ms(rank, step) * kMillisecond};
      }
      if (number % collectives_of_a_look != 0) continue;
      watch.See(traces);
      traces.clear();
    }
  }
  watch.See(traces);
}

TEST(Straggler, IsTheRankThatComesLastNearlyEachStep) {
  StragglerWatch watch;
  Train(watch, 2, 1, 100,
        [](int rank, int step) { return rank == (step % 20 == 0 ? 0 : 1) ? 60 : 0; });
  const auto found = watch.straggler();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 1);
  EXPECT_EQ(Say(*found),
            "rank 1 is late at collectives: the last in 48 of 50 steps, by 60 ms of 500 ms each");
}

TEST(Straggler, IsFoundWhateverTheNumberOfBuckets) {
  for (const int buckets : {2, 7, 25, 40}) {
    StragglerWatch watch;
    Train(watch, 4, buckets, 60, [](int rank, int) { return rank == 2 ? 80 : rank; });
    const auto found = watch.straggler();
    ASSERT_TRUE(found) << buckets;
    EXPECT_EQ(found->rank, 2);
    EXPECT_EQ(found->of, 50);
    EXPECT_EQ(found->step, std::chrono::milliseconds(500));
  }
}

// After a collective that waits, all ranks are together again, and it is chance which is last at
// the next one.
TEST(Straggler, IsLateAtOneOfTheCollectivesOfAStep) {
  StragglerWatch watch;
  std::map<int, Trace> traces;
  for (int number = 1; number <= 240; ++number) {
    const int64_t at = (150 * number + 60 * (number % 2)) * kMillisecond;
    const bool is_first = number % 2 == 0;
    traces[0]["0"].collectives[number] = {"all_reduce", is_first ? "[8]" : "[4]", "", at};
    traces[1]["0"].collectives[number] = {
        "all_reduce", is_first ? "[8]" : "[4]", "",
        is_first ? at + 90 * kMillisecond : at + (number % 4 == 1 ? 1 : -1) * kMillisecond};
  }
  watch.See(traces);
  ASSERT_TRUE(watch.straggler());
  EXPECT_EQ(Say(*watch.straggler()),
            "rank 1 is late at collectives: the last in 68 of 68 steps, by 90 ms of 300 ms each");
}

TEST(Straggler, IsNobodyWhoIsLateNowAndThenOrByLittle) {
  const auto none = [](int steps, const LateMs& late_ms) {
    StragglerWatch watch;
    Train(watch, 2, 1, steps, late_ms);
    return !watch.straggler();
  };
  EXPECT_TRUE(none(100, [](int rank, int step) { return rank == 0 ? 1 : step % 5 < 3 ? 60 : 0; }));
  EXPECT_TRUE(none(100, [](int rank, int) { return rank == 1 ? 4 : 0; }));
  EXPECT_TRUE(none(100, [](int rank, int) { return rank == 1 ? 45 : 0; }));  // of 500 ms
  EXPECT_TRUE(none(39, [](int rank, int) { return rank == 1 ? 60 : 0; }));
  EXPECT_FALSE(StragglerWatch().straggler());
}

// Twenty-five collectives of one step are not twenty-five independent observations: here each rank
// is late at four steps in a row, at a hundred collectives.
TEST(Straggler, IsNobodyWhereRanksAreLateInTurns) {
  StragglerWatch watch;
  Train(watch, 2, 25, 200, [](int rank, int step) { return rank == step / 4 % 2 ? 200 : 0; });
  EXPECT_FALSE(watch.straggler());
}

TEST(Straggler, IsNobodyInSymmetricNoise) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> noise(0, 300);
  for (const int buckets : {1, 3, 25}) {
    for (int trial = 0; trial < 8; ++trial) {
      std::map<std::pair<int, int>, int> late;
      StragglerWatch watch;
      Train(watch, 2, buckets, 60, [&](int rank, int step) {
        return late.try_emplace({rank, step}, noise(random)).first->second;
      });
      EXPECT_FALSE(watch.straggler());
    }
  }
}

TEST(Straggler, IsOneNoLongerWhenItHasCaughtUp) {
  StragglerWatch watch;
  Train(watch, 2, 3, 70, [](int rank, int) { return rank == 1 ? 60 : 0; });
  EXPECT_TRUE(watch.straggler());
  StragglerWatch later;
  Train(later, 2, 3, 200, [](int rank, int step) { return rank == 1 && step < 120 ? 60 : 0; });
  EXPECT_FALSE(later.straggler());
}

// Each recorder keeps 32 collectives, and is asked after every 128.
TEST(Straggler, IsFoundThoughRecordersForget) {
  StragglerWatch watch;
  std::map<int, Trace> traces;
  for (int number = 1; number <= 2000; ++number) {
    for (int rank = 0; rank < 2; ++rank) {
      traces[rank]["0"].collectives[number] = {
          "all_reduce", std::to_string(number % 4), "Float",
          (100 * number + (rank == 0 ? 50 : 0)) * kMillisecond};
      if (number > 32) traces[rank]["0"].collectives.erase(number - 32);
    }
    if (number % 128 == 0) watch.See(traces);
  }
  ASSERT_TRUE(watch.straggler());
  EXPECT_EQ(watch.straggler()->rank, 0);
}

TEST(Straggler, NeedsAPatternThatRepeats) {
  StragglerWatch watch;
  std::map<int, Trace> traces;
  for (int number = 1; number <= 100; ++number) {
    for (int rank = 0; rank < 2; ++rank) {
      traces[rank]["0"].collectives[number] = {"all_reduce", std::to_string(number), "Float",
                                               (500 * number + 99 * rank) * kMillisecond};
    }
  }
  watch.See(traces);
  EXPECT_FALSE(watch.straggler());
}

std::string DumpAt(const std::string& frames) {
  return "Current thread 0x0001 (most recent call first):\n" + frames + "\n";
}

TEST(Straggler, ItsPlaceIsWhereItMostlyIsWhenItDoesNotWaitForOthers) {
  Places places;
  EXPECT_EQ(places.Say(), "");
  const std::string own = "  File \"/w/train.py\", line 88 in step\n";
  const std::string wait =
      "  File \"/x/site-packages/torch/distributed/distributed_c10d.py\", line 5 in "
      "all_reduce\n" +
      own;
  const std::string load = "  File \"/usr/lib/python3.11/queue.py\", line 3 in get\n" + own;
  for (int i = 0; i < 30; ++i) places.See(DumpAt(wait));
  EXPECT_EQ(places.Say(), "");
  places.See(DumpAt(own));
  places.See(DumpAt(load));
  places.See(DumpAt(load));
  EXPECT_EQ(places.Say(), "mostly at train.py:88, in get (queue.py:3)");
  places.See("garbage");
  for (int i = 0; i < 2; ++i) places.See(DumpAt("  File \"/w/a.py\", line 1 in f\n"));
  EXPECT_EQ(places.Say(), "");
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
