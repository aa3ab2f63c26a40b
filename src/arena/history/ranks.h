// What each rank of a job is doing now (get --ranks).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "answers/stall/recorder.h"
#include "arena/app/app.h"
#include "arena/history/rank_logs.h"
#include "arena/jobs/gpu_metrics.h"
#include "arena/jobs/jobs.h"
#include "arena/jobs/pod_use.h"
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
  std::string last_line{};              // RankLogs::Latest::line
  // Of its instance, as in api::InstanceSummary.
  int restarts = 0;
  std::string last_end{}, waits{};
  std::optional<GpuUse> gpu{};           // of the GPUs that it uses of its instance's
  std::optional<PodUse> instance_use{};  // of all its ranks together, if the cluster measures it
  // About its process, if it runs on this machine; on Kubernetes, if it is the only rank of its
  // instance, what that uses.
  std::optional<int> pid;
  std::optional<double> cpu;              // processors that it and its children use
  std::optional<int64_t> memory;          // bytes, resident
  std::optional<answers::Lateness> late;  // if its torch has a flight recorder
  std::string place;                      // the line of the user's own code: "train.py:88"
  std::string doing;                      // "waits in all_reduce"; "" if unknown
  bool is_native = false;                 // its process runs no Python that says where it is
};

enum class RankLook { kWithStacks, kWithoutStacks };

struct LookAtRanks {
  RankLook stacks = RankLook::kWithStacks;
  size_t most_logs = 256;  // how many instances' logs are read; a request each on Kubernetes
  // What the instances use (UseOfPods), by name; on the embedded cluster the processes show it.
  std::map<std::string, PodUse> uses{};
  std::vector<GpuMetric> gpus{};  // all that are known (GpuMetricsOrNone)
};

// All ranks of the job, in order. Observes this machine's processes for half a second. With stacks,
// makes them report `place` and `doing`.
std::vector<RankState> RanksOf(cluster::Client& client, const Context& context,
                               const TrainingJob& job, RankLogs& logs, const LookAtRanks& look);

struct RanksText {
  std::string table;
  std::vector<std::string> left_out;  // columns for which there was no room
};
// In at most `width` columns where that is possible; 0: as wide as it needs.
RanksText RenderRanks(const std::vector<RankState>& ranks, size_t width);
// The same for a cluster whose processes are not on this machine: without what only they show, but
// with restarts, and why each rank waits or what it said last.
RanksText RenderDistantRanks(const std::vector<RankState>& ranks, size_t width);
// docs/reference/json.md, "get --ranks".
text::Json RanksToJson(const std::vector<RankState>& ranks);

}  // namespace arena
