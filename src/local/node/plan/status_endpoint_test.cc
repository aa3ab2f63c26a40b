#include "local/node/plan/status_endpoint.h"

#include <gtest/gtest.h>

namespace local::node {
namespace {

TEST(StatusToken, IsOfOneJobAndOneKey) {
  const std::string token = StatusToken("key", "uid-1");
  EXPECT_EQ(JobOfStatusToken("key", token), "uid-1");
  EXPECT_FALSE(JobOfStatusToken("another key", token));
  EXPECT_FALSE(JobOfStatusToken("", StatusToken("", "uid-1")));
  EXPECT_FALSE(JobOfStatusToken("key", "uid-2" + token.substr(5)));
  for (const char* other : {"", ".", "uid-1", "uid-1."}) {
    EXPECT_FALSE(JobOfStatusToken("key", other)) << other;
  }
}

}  // namespace
}  // namespace local::node
