// The program's own heap (libc_memory.cc), between lives.
#pragma once

namespace simulation {

// The blocks that are in use stay the program's, and are nobody's again.
void KeepHeap();
// A life has ended: where none of its blocks is in use, the next one gets the same blocks again.
void SettleHeap();

}  // namespace simulation
