// Asks the ranks of one job for their flight recorders once a second: a rank that has died can no
// longer be asked.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "answers/stall/recorder.h"
#include "api/last_collectives.h"
#include "base/clock.h"
#include "witness/recorder.h"

namespace local::daemon {

struct SampledRank {
  int rank = 0;
  pid_t pid = 0;
  std::string folder;  // witness::FolderOfPod
  uint64_t ticks = 0;  // of CPU time
};

// One thread.
class RankSnapshots {
 public:
  // Call it once a second with the ranks that run here. Returns the answers to the request of the
  // previous call, by rank, and asks the ranks that have used CPU time since then: a request would
  // wake the others up, and their last answer still holds. Blocks for some milliseconds at most.
  std::map<int, answers::Trace> See(base::Time wall, const std::vector<SampledRank>& ranks);

  // The last calls of each rank that has ever answered, and when it answered.
  std::vector<api::LastCollective> Last() const;

 private:
  struct Asked {
    base::Time wall{};
    std::map<pid_t, int> ranks;
    witness::PidsByFolder pids;
    witness::RecorderQuestion question;
  };
  std::map<int, answers::Trace> Read();

  std::optional<Asked> asked_;
  std::map<std::string, witness::RecorderTurns> turns_;  // by folder
  std::map<int, uint64_t> ticks_;                        // of each rank at the last call
  std::map<int, api::LastCollective> last_;              // by rank
};

}  // namespace local::daemon
