#include "arena/history/run_document.h"

#include <gtest/gtest.h>

namespace arena {
namespace {

// The proxy beside the program was started again twice, and runs on after it.
TEST(AttemptsOf, AreTheProgramsAndNotItsSidecars) {
  RunRecord run;
  run.job.pods.push_back(*text::ParseJson(R"({
    "metadata": {"name": "a-master-0"},
    "spec": {"containers": [{"name": "pytorch"}, {"name": "proxy"}]},
    "status": {"phase": "Running", "startTime": "2026-07-30T10:00:00Z", "containerStatuses": [
      {"name": "pytorch", "restartCount": 1,
       "lastState": {"terminated": {"exitCode": 7, "startedAt": "2026-07-30T10:00:01Z",
                                    "finishedAt": "2026-07-30T10:00:02Z"}},
       "state": {"terminated": {"exitCode": 0, "startedAt": "2026-07-30T10:00:03Z",
                                "finishedAt": "2026-07-30T10:00:04Z"}}},
      {"name": "proxy", "restartCount": 2,
       "lastState": {"terminated": {"exitCode": 143, "finishedAt": "2026-07-30T10:05:00Z"}},
       "state": {"running": {"startedAt": "2026-07-30T10:06:00Z"}}}]}})"));
  const std::vector<Attempt> attempts = AttemptsOf(run);
  ASSERT_EQ(attempts.size(), 2u);
  EXPECT_EQ(attempts[0].number, 1);
  EXPECT_EQ(attempts[0].exit_code, 7);
  EXPECT_EQ(attempts[1].number, 2);
  EXPECT_EQ(attempts[1].exit_code, 0);
  EXPECT_EQ(attempts[1].started, "2026-07-30T10:00:03Z");
  EXPECT_EQ(attempts[1].ended, "2026-07-30T10:00:04Z");
}

}  // namespace
}  // namespace arena
