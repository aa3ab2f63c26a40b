// Which programs hold a GPU's memory, according to CUDA's allocator when none is left. Pure.
#pragma once

#include <string_view>

namespace answers {

enum class GpuHolder {
  kOwn,     // this process, or what it asked for would not fit on the GPU alone
  kOthers,  // other programs hold more of it
  kJob,     // several processes that were started together, as one job's ranks are; this is one
};

// Who holds the GPU's memory, according to PyTorch's message that none is left.
GpuHolder HolderIn(std::string_view out_of_memory);

}  // namespace answers
