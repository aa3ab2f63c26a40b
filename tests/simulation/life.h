// One life of a machine, from its first command to the last thing that is deleted.
#pragma once

#include <cstdint>
#include <string>

namespace simulation {

struct LifeOptions {
  std::string folder;  // where its disk is
  uint64_t seed = 1;
  bool is_traced = false;
};

// Its trace's hash. Ends the process where something goes wrong (threads.h).
uint64_t LiveOnce(const LifeOptions& options);

}  // namespace simulation
