#include "base/machine/signal_name.h"

#include <gtest/gtest.h>

namespace base {
namespace {

TEST(SignalName, IsTheKernels) {
  EXPECT_EQ(SignalName(31), "SIGSYS");
  EXPECT_EQ(SignalName(64), "");
}

}  // namespace
}  // namespace base
