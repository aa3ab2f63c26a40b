#include "base/shared_work.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace base {
namespace {

TEST(ShareWork, DoesEachThingOnce) {
  for (const size_t size : {0u, 1u, 99u, 100u, 101u, 1000u}) {
    std::vector<std::atomic<int>> done(size);
    ASSERT_TRUE(ShareWork(size, 100, [&](size_t from, size_t count) {
      for (size_t i = from; i < from + count; ++i) ++done[i];
      return Status();
    }));
    for (const std::atomic<int>& times : done) EXPECT_EQ(times, 1);
  }
}

TEST(ShareWork, ReportsTheFirstPartsError) {
  const Status status = ShareWork(1000, 10, [](size_t from, size_t count) -> Status {
    return Fail(Code::kInternal, from == 0 && count > 0 ? "first" : "later");
  });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "first");
}

}  // namespace
}  // namespace base
