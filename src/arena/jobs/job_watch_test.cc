#include "arena/jobs/job_watch.h"

#include <atomic>
#include <optional>

#include "arena/testing/verb_test_base.h"

namespace arena {
namespace {

class JobWatchTest : public VerbTest {
 protected:
  JobWatchTest() {
    cluster_->refuse = [this](const net::HttpRequest& request) {
      std::optional<FakeCluster::Refusal> refusal;
      if (request.target == std::string(kJobs) + "/pt") {
        const int status = status_;
        const char* const reason = status == 503   ? "ServiceUnavailable"
                                   : status == 403 ? "Forbidden"
                                                   : "NotFound";
        refusal = FakeCluster::Refusal{status, reason, "because"};
      }
      return refusal;
    };
    watch_.emplace(*client_, "default", "pt", "release=pt");
  }

  base::Status Look(int status) {
    status_ = status;  // of the answer
    return probe_.Look(*watch_);
  }

  std::atomic<int> status_ = 404;
  JobProbe probe_{*client_, "default", "pt"};
  std::optional<JobWatch> watch_;
};

TEST_F(JobWatchTest, AServerThatIsAwayForAWhileIsWaitedFor) {
  testing::internal::CaptureStderr();
  for (int round = 0; round < 2; ++round) {
    EXPECT_TRUE(Look(404)) << "a job that is gone is for others to say";
    for (int i = 1; i < kMaxMisses; ++i) EXPECT_TRUE(Look(503)) << i;
  }
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 2) << log;
  EXPECT_NE(log.find("because; still waiting"), std::string::npos) << log;
  EXPECT_EQ(Look(503).error().code, base::Code::kUnavailable);
}

TEST_F(JobWatchTest, WhatDoesNotPassByItselfIsNotWaitedFor) {
  EXPECT_EQ(Look(403).error().code, base::Code::kPermissionDenied);
}

}  // namespace
}  // namespace arena
