#include "witness/near_limits.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fd.h"

namespace witness {
namespace {

TEST(NearLimits, ReadsTheSoftLimit) {
  const std::string_view limits =
      "Limit                     Soft Limit           Hard Limit           Units     \n"
      "Max processes             unlimited            unlimited            processes \n"
      "Max open files            1024                 524288               files     \n";
  EXPECT_EQ(LimitIn(limits, "Max open files"), 1024);
  EXPECT_EQ(LimitIn(limits, "Max processes"), -1);
  EXPECT_EQ(LimitIn("", "Max open files"), -1);
}

TEST(NearLimits, ReportsDescriptorsThatAreNearlyAllOpen) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit low = before;
  low.rlim_cur = 64;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  base::FakeClock clock(*base::ParseRfc3339("2026-07-30T10:00:00Z"));
  NearLimits limits;
  limits.Look(::getpid(), {}, clock);
  EXPECT_TRUE(limits.facts().empty());
  std::vector<base::Fd> open;
  for (int i = 0; i < 60; ++i) open.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  // The look itself needs two descriptors.
  open.resize(open.size() - 6);
  limits.Look(::getpid(), {}, clock);
  EXPECT_TRUE(limits.facts().empty()) << "a look a second";
  clock.Advance(std::chrono::seconds(2));
  limits.Look(::getpid(), {}, clock);
  (void)::setrlimit(RLIMIT_NOFILE, &before);
  ASSERT_EQ(limits.facts().size(), 1U);
  EXPECT_NE(limits.facts()[0].text.find(" of 64 descriptors open"), std::string::npos);
  EXPECT_EQ(limits.facts()[0].time, clock.Now());
}

}  // namespace
}  // namespace witness
