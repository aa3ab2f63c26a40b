#include "local/node/pod/oom_watch.h"

#include <gtest/gtest.h>

namespace local::node {
namespace {

TEST(OomWatch, FindsItsVictimInTheKernelsLog) {
  constexpr std::string_view kRecord =
      "4,1234,5678,-;Out of memory: Killed process 4242 (python3) total-vm:1kB, anon-rss:1kB";
  EXPECT_TRUE(NamesOomVictim(kRecord, 4242));
  EXPECT_TRUE(NamesOomVictim("6,1,2,-;Memory cgroup out of memory: Killed process 7 (x)", 7));
  EXPECT_FALSE(NamesOomVictim(kRecord, 424));
  EXPECT_FALSE(NamesOomVictim(kRecord, 242));
  EXPECT_FALSE(NamesOomVictim("", 1));
}

TEST(OomWatch, NobodyWasKilledSinceNow) {
  const OomWatch watch;
  EXPECT_FALSE(watch.HasKilled(1));
}

}  // namespace
}  // namespace local::node
