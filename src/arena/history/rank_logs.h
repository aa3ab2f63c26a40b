// RankLogs: what the logs of a job's instances say last about each rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "arena/jobs/jobs.h"
#include "arena/logs/rank_lines.h"
#include "base/clock.h"
#include "cluster/client.h"

namespace arena {

// Keeps what it has read, so that the next look reads only what is new. One thread; borrows
// nothing between calls.
class RankLogs {
 public:
  struct Latest {
    std::optional<base::Time> at;  // of its last line
    std::string step;              // StepIn of the last line that has one
    std::string line;              // its last line, without escapes, at most kLineLength bytes
  };
  static constexpr size_t kLineLength = 200;

  // Reads the logs of at most `most` instances, first the ones that were read longest ago,
  // `at_once` at a time. Reads no instance again that had ended. Blocks while they are read.
  void Look(cluster::Client& client, const TrainingJob& job, const RankMap& map, size_t most,
            size_t at_once);
  // By rank.
  const std::map<int, Latest>& Of(const std::string& instance) const;
  // Whether the last look has read it, or it had ended before: then its ranks' silence is known.
  bool IsFresh(const std::string& instance) const;
  // How many instances with a pod were never read.
  size_t unread() const { return unread_; }

 private:
  struct Reading {
    std::string uid;        // of the pod
    uint64_t turn = 0;      // the look that read it last; 0: none
    bool is_final = false;  // it had ended before it was read
    std::string since;      // RFC 3339: where the next reading begins
    std::map<int, Latest> latest;
  };
  void Read(cluster::Client& client, const TrainingJob& job, const RankMap& map,
            const std::string& instance, Reading& reading) const;

  std::map<std::string, Reading> readings_;  // by instance
  uint64_t turn_ = 0;
  size_t unread_ = 0;
};

// "step 12" from a line like "epoch 3, step 12: loss 0.5"; "" if it contains no step.
std::string StepIn(std::string_view line);

}  // namespace arena
