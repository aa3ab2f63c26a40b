#include "local/daemon/retention.h"

#include <gtest/gtest.h>

namespace local::daemon {
namespace {

const base::Time kNow = *base::ParseRfc3339("2026-07-30T10:00:00Z");

FinishedJob Job(std::string name, std::chrono::hours ago, int64_t bytes = 1) {
  return {"default", name, "uid-" + name, kNow - ago, bytes};
}

std::vector<std::string> Removed(std::vector<FinishedJob> jobs, Keep keep) {
  std::vector<std::string> names;
  for (const FinishedJob& job : JobsToRemove(std::move(jobs), keep, kNow)) {
    names.push_back(job.name);
  }
  return names;
}

using Names = std::vector<std::string>;
using std::chrono::hours;

TEST(Retention, ByAge) {
  EXPECT_EQ(Removed({Job("a", hours(49)), Job("b", hours(47))}, {2, 0, 0}), Names{"a"});
}

TEST(Retention, ByNumberTheOldestFirst) {
  EXPECT_EQ(Removed({Job("b", hours(3)), Job("a", hours(4)), Job("c", hours(2))}, {0, 1, 0}),
            (Names{"a", "b"}));
}

TEST(Retention, BySizeTheLargeOnesThatDoNotFit) {
  EXPECT_EQ(Removed({Job("a", hours(4), 10), Job("b", hours(3), 95), Job("c", hours(2), 50)},
                    {0, 0, 100}),
            Names{"b"});
}

TEST(Retention, NothingWithoutLimits) {
  EXPECT_EQ(Removed({Job("a", hours(100'000), int64_t{1} << 50)}, {0, 0, 0}), Names{});
}

TEST(Retention, NothingThatFinishedWithinTheHour) {
  EXPECT_EQ(Removed({Job("a", hours(1), 1000), Job("b", hours(0), 1000)}, {1, 1, 10}), Names{});
}

}  // namespace
}  // namespace local::daemon
