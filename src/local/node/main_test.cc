// The test program also serves as the shim that its tests start.
#include <gtest/gtest.h>

#include <cstring>

#include "local/node/shim/shim.h"

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "shim") == 0) return local::node::ShimMain();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
