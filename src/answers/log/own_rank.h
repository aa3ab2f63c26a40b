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

// From the environment that the log shows, as `env` or `export` print it or a program in one line:
// "RANK=6" together with "LOCAL_RANK=2", which only workers have, or with "WORLD_SIZE=8" where
// nothing says that the process starts others. Also what Accelerate ("Process index: 6") and
// Lightning ("GLOBAL_RANK: 6, MEMBER: 7/8") print of each process. Nullopt without them, or if the
// log shows several ranks. Pure.
struct RankOfEnvironment {
  int rank = 0;
  // Whether the log may be that of several processes, of which only the first one on its node has
  // shown its environment.
  bool may_have_others = false;
  // Otherwise the rank may be that of a node: unless logs of other ranks show theirs.
  bool is_of_worker = true;
  int size = 0;  // of the job; 0 if unknown
};
std::optional<RankOfEnvironment> RankInEnvironment(const std::vector<std::string_view>& lines);

}  // namespace answers
