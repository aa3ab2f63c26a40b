// One life of a machine, from its first command to the last thing that is deleted.
#pragma once

#include <cstdint>

namespace simulation {

struct LifeOptions {
  uint64_t seed = 1;
  bool is_traced = false;
  bool settles_heap = true;  // afterwards: the next life gets the same blocks (heap.h)
};

// Before the first life.
void MapStoresMemory();

// Its trace's hash. Ends the process where something goes wrong (threads.h).
uint64_t LiveOnce(const LifeOptions& options);

}  // namespace simulation
