// Which rank a process calls itself in what it says, where no prefix tells.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "answers/evidence.h"

namespace answers {

// Of PyTorch's and Megatron's messages: "[1] is setting up NCCL communicator", "did not receive
// grad for rank 1". Nullopt where none names one, or they name several. Pure.
std::optional<int> OwnRankIn(const std::vector<Line>& lines);

}  // namespace answers
