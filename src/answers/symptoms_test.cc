#include "answers/symptoms.h"

#include <gtest/gtest.h>

namespace answers {
namespace {

TEST(Symptoms, ALaunchersLineIsNoWork) {
  EXPECT_TRUE(
      IsOfLauncher("srun: Job step aborted: Waiting up to 32 seconds for job step to finish."));
  EXPECT_FALSE(IsOfLauncher("step 3 loss 0.5"));
}

TEST(Symptoms, DashNamesAScriptANumberAndAProgramWithoutBlanks) {
  for (const char* line : {"run: 3: deepspeed: not found", "./a/run.sh: 12: /opt/x: not found",
                           "n2: run: 3: deepspeed: not found"}) {
    EXPECT_TRUE(IsMissingOfDash(line)) << line;
  }
  for (const char* line : {"index: 7: shard 00017: not found", "in the index: 7: x: not found",
                           "index: x: y: not found", "7: x: not found", "x: not found",
                           ": 7: x: not found", "a: 7: : not found", ": not found"}) {
    EXPECT_FALSE(IsMissingOfDash(line)) << line;
  }
}

}  // namespace
}  // namespace answers
