// The rank that a process names in its own messages, if no prefix names one.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "answers/evidence.h"

namespace answers {

// From messages of PyTorch and Megatron: "[1] is setting up NCCL communicator", "did not receive
// grad for rank 1". Nullopt if none names a rank, or if they name several. Pure.
std::optional<int> OwnRankIn(const std::vector<Line>& lines);

}  // namespace answers
