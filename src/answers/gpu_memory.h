// Who holds a GPU's memory, by what CUDA's allocator says when there is none left. Pure.
#pragma once

#include <string_view>

namespace answers {

// Whether a message of CUDA says that other programs hold more of the GPU than this one.
bool IsTakenByOthers(std::string_view out_of_memory);

}  // namespace answers
