// What each rank of a job is doing now (get --ranks).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answers/stall/recorder.h"
#include "arena/app/app.h"
#include "arena/jobs/jobs.h"
#include "base/clock.h"
#include "cluster/client.h"
#include "text/json.h"

namespace arena {

struct RankState {
  int rank = 0;
  std::string instance;
  std::string state;                    // its pod's; "Stopped" if a signal stopped the process
  std::string step;                     // "step 12", the last one in its log; "" if there is none
  std::optional<base::Duration> quiet;  // since its last line
  // About its process, if it runs on this machine and is Python.
  std::optional<int> pid;
  std::optional<double> cpu;              // processors that it and its children use
  std::optional<int64_t> memory;          // bytes, resident
  std::optional<answers::Lateness> late;  // if its torch has a flight recorder
  std::string place;                      // the line of the user's own code: "train.py:88"
  std::string doing;                      // "waits in all_reduce"; "" if unknown
};

// "step 12" from a line like "epoch 3, step 12: loss 0.5"; "" if it contains no step.
std::string StepIn(std::string_view line);

enum class RankLook { kWithStacks, kWithoutStacks };

// All ranks of the job, in order. Observes this machine's processes for half a second. With stacks,
// makes them report `place` and `doing`.
std::vector<RankState> RanksOf(cluster::Client& client, const Context& context,
                               const TrainingJob& job, RankLook look = RankLook::kWithStacks);

std::string RenderRanks(const std::vector<RankState>& ranks);
// docs/reference/json.md, "get --ranks".
text::Json RanksToJson(const std::vector<RankState>& ranks);

}  // namespace arena
