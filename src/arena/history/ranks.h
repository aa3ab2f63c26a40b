// What each rank of a job does just now (get --ranks).
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
  std::string state;                    // of its pod; "Stopped" of a process that a signal holds
  std::string step;                     // "step 12", as its log says last; "" when it does not
  std::optional<base::Duration> quiet;  // since its last line
  // Of its process: where it runs on this machine and is Python.
  std::optional<int> pid;
  std::optional<double> cpu;              // processors that it uses, its children's too
  std::optional<int64_t> memory;          // bytes, resident
  std::optional<answers::Lateness> late;  // with a torch whose flight recorder can be asked
  std::string place;                      // of the user's own code: "train.py:88"
  std::string doing;                      // "waits in all_reduce"; "" when nothing is known
};

// "step 12" of a line like "epoch 3, step 12: loss 0.5"; "" when it tells no progress.
std::string StepIn(std::string_view line);

enum class RankLook { kWithStacks, kWithoutStacks };

// All ranks that the job is to have, in their order. Looks at this machine's processes for half a
// second and, with stacks, has them write where they stand: `place` and `doing`.
std::vector<RankState> RanksOf(cluster::Client& client, const Context& context,
                               const TrainingJob& job, RankLook look = RankLook::kWithStacks);

std::string RenderRanks(const std::vector<RankState>& ranks);
// docs/reference/json.md, "get --ranks".
text::Json RanksToJson(const std::vector<RankState>& ranks);

}  // namespace arena
