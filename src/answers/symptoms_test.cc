#include "answers/symptoms.h"

#include <gtest/gtest.h>

namespace answers {
namespace {

TEST(Symptoms, ALaunchersLineIsNoWork) {
  EXPECT_TRUE(
      IsOfLauncher("srun: Job step aborted: Waiting up to 32 seconds for job step to finish."));
  EXPECT_FALSE(IsOfLauncher("step 3 loss 0.5"));
}
}  // namespace
}  // namespace answers
