// Turns samples of the ranks' processes into what each has used since the previous sample.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "gpu/meter.h"
#include "local/daemon/progress/last_lines.h"
#include "local/daemon/progress/rank_files.h"

namespace local::daemon {

// The process of a rank.
struct MeteredRank {
  int rank = 0;
  pid_t pid = 0;
  std::string pod_uid;
  uint64_t ticks = 0;  // of CPU time, with its children's
  runs::StallRole role = runs::StallRole::kNone;
  std::vector<int> gpu_units{};  // its pod's (gpu::Inventory::Units)
  int ranks_of_pod = 0;          // also those that have ended; 0 if that is not known
};

// One thread. Borrows both.
class RankMeter {
 public:
  RankMeter(RankFiles& files, const LastLines& lines) : files_(files), lines_(lines) {}

  // All ranks of a job that are running, about once a second; reads /proc when a sample is due.
  // `gpus`: how busy the machine's are.
  void See(const std::string& job_uid, const std::vector<MeteredRank>& ranks, base::Time now,
           const gpu::BusyUnits& gpus = {});
  // The jobs that run.
  void KeepOpen(const std::set<std::string>& jobs);

 private:
  struct Before {
    pid_t pid = 0;
    uint64_t ticks = 0, io = 0;
    base::Time at{};
  };

  RankFiles& files_;
  const LastLines& lines_;
  std::map<std::string, std::map<int, Before>> before_;  // by job and rank
};

}  // namespace local::daemon
