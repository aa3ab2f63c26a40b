#include "arena/jobs/jobs.h"

#include <gtest/gtest.h>

namespace arena {
namespace {

TEST(Jobs, TheTimesInTheClustersWordsAreLocal) {
  const std::string local = LocalTime(*base::ParseRfc3339("2026-07-30T08:00:00Z"));
  EXPECT_EQ(
      InLocalTime("in use by a (until 2026-07-30T08:00:00Z at the latest), 2026-07-30T08:00:00Z"),
      "in use by a (until " + local + " at the latest), " + local);
  for (const char* text :
       {"", "Z", "AZ", "2026-07-30T08:00:00", "2026-99-30T08:00:00Z", "no time Z here at all Z"}) {
    EXPECT_EQ(InLocalTime(text), text);
  }
}

TEST(Jobs, TheNamesOfKubectlAndOfInstancesMeanAJob) {
  EXPECT_EQ(MeantJob("muster", "pytorchjob/pt"), " (did you mean pt?)");
  EXPECT_EQ(MeantJob("muster", "pytorchjob.kubeflow.org/pt"), " (did you mean pt?)");
  EXPECT_EQ(MeantJob("muster", "pt-1-worker-10"),
            " (pt-1-worker-10 is named like an instance of the job pt-1)");
  for (const char* name : {"", "pt", "pt/", "worker-0", "-worker-0", "pt-worker-", "pt-worker-a"}) {
    EXPECT_EQ(MeantJob("muster", name), "") << name;
  }
  EXPECT_EQ(MeantJob("arena", "pytorchjob/pt"), "");
}

}  // namespace
}  // namespace arena
