// Which programs hold a GPU's memory, according to CUDA's allocator when none is left. Pure.
#pragma once

#include <string_view>

namespace answers {

// Whether a message of CUDA says that other programs hold more of the GPU than this one.
bool IsTakenByOthers(std::string_view out_of_memory);

}  // namespace answers
