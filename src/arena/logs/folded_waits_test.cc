#include "arena/logs/folded_waits.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace arena {
namespace {

using Lines = std::vector<std::string>;
constexpr FoldedWaits::Moment kBegin{};
constexpr auto kLater = kBegin + FoldedWaits::kWindow;

TEST(FoldedWaits, MakesOneLineOfManyInstancesThatWaitForTheSame) {
  FoldedWaits waits;
  EXPECT_EQ(waits.NextAt(), std::nullopt);
  for (int i = 9; i-- > 0;) waits.Set(fmt::format("w-{}", i), "no GPU is free", kBegin);
  EXPECT_EQ(waits.Take(kBegin), Lines{});
  EXPECT_EQ(waits.NextAt(), kLater);
  EXPECT_EQ(waits.Take(kLater),
            Lines{"waiting for 9 instances to start (w-0, w-1, w-2, ...): no GPU is free"});
  EXPECT_EQ(waits.NextAt(), std::nullopt);
  EXPECT_EQ(waits.Take(kLater), Lines{});
}

TEST(FoldedWaits, DistinguishesReasons) {
  FoldedWaits waits;
  waits.Set("b", "Pending", kBegin);
  waits.Set("a", "Pending", kBegin);
  waits.Set("c", "ErrImagePull", kBegin);
  EXPECT_EQ(waits.Take(kLater), (Lines{"waiting for instance c to start: ErrImagePull",
                                       "waiting for 2 instances to start (a, b): Pending"}));
}

TEST(FoldedWaits, SaysTheLastReasonAloneAndNothingOfWhatHasStarted) {
  FoldedWaits waits;
  waits.Set("a", "Pending", kBegin);
  waits.Set("b", "Pending", kBegin);
  waits.Set("a", "ErrImagePull", kBegin);
  waits.Set("b", "", kBegin);
  EXPECT_EQ(waits.Take(kLater), Lines{"waiting for instance a to start: ErrImagePull"});
}

}  // namespace
}  // namespace arena
