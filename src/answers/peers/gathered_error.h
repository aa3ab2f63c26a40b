// Errors that torch.distributed.checkpoint gathers from all ranks and raises on each of them.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "answers/evidence.h"

namespace answers {

// From "CheckpointException ranks:dict_keys([3, 7])" (torch/distributed/checkpoint/api.py), below
// which each of these ranks' exceptions follows, "Traceback (most recent call last): (RANK 3)".
// Empty for another line.
std::set<int> RanksOfGathered(std::string_view line);

// The ranks whose errors `rank` raised, if its lines `words` are of such an exception; otherwise
// empty. Where only rank 0 is named, it is so that this rank has raised it itself: without
// collective calls, each process calls itself that.
std::set<int> GatheredIn(const Rank& rank, const std::vector<std::string>& words,
                         const Evidence& evidence);

// The only rank that such an exception of any rank names. Pure.
std::set<int> NamedAloneByGathered(const Evidence& evidence);

}  // namespace answers
