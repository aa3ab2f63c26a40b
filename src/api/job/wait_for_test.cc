#include "api/job/wait_for.h"

#include <gtest/gtest.h>

namespace api {
namespace {

text::Json Job(const std::string& awaited, bool is_suspended) {
  text::Json job = text::Object();
  text::Set(job, {"metadata", "annotations", kWaitForAnnotation}, text::Json(awaited));
  text::Set(job, {"spec", "runPolicy", "suspend"}, text::Json(is_suspended));
  return job;
}

TEST(AwaitedBy, IsWhatWasWritten) {
  const std::vector<AwaitedJob> jobs = {{"prepare", "1-a"}, {"base", "2-b"}};
  EXPECT_EQ(WriteAwaited(jobs), "prepare=1-a,base=2-b");
  EXPECT_EQ(AwaitedBy(Job(WriteAwaited(jobs), true)), jobs);
}

TEST(AwaitedBy, IsNobodyOnceTheJobWasResumed) {
  EXPECT_TRUE(AwaitedBy(Job("base=1", false)).empty());
  EXPECT_TRUE(AwaitedBy(Job("", true)).empty());
  EXPECT_TRUE(AwaitedBy(Job("=,x,", true)).empty());
}

}  // namespace
}  // namespace api
