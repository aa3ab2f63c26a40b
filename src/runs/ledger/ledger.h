// Where a run's time went: every millisecond from its submission to its end in exactly one bucket.
// Whoever knows something of a stretch claims it; of claims that overlap the one on the higher
// layer holds, and what nobody claims is unknown. So the buckets add up to the wall clock whatever
// is claimed, by clocks that jump too. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "runs/progress/step_mark.h"

namespace runs {

enum class Bucket {
  kQueued,          // waits for its turn
  kAdmitted,        // has its place, and nothing is started yet
  kImage,           // images, code, init containers
  kInterpreters,    // programs start, up to their first line
  kRendezvous,      // the ranks find each other
  kFirstStep,       // up to where steps take as long as they usually do
  kSteps,           // steps whose result stayed: the productive ones
  kDataWait,        // for the next batch
  kCheckpointSave,  // saving, in which no step is made
  kRestore,         // loading a checkpoint
  kLostProgress,    // steps that a restart made again, and the one that was cut off
  kRecovery,        // from a failure until the programs are started again
  kStalled,         // ranks wait for one that does not come
  kIdle,            // suspended
  kEnding,          // from the last step to the job's end
  kUnknown,
};
inline constexpr size_t kBuckets = 16;
// "queued", "image/code", "lost progress".
std::string_view NameOf(Bucket bucket);
// What it means, one short clause.
std::string_view MeaningOf(Bucket bucket);

// Higher layers hide lower ones.
enum class Layer { kPhases, kSteps, kWaits, kLost, kStalls, kIdle };

struct Claim {
  Millis begin = 0;
  Millis end = 0;  // one that is not after `begin` claims nothing
  Bucket bucket = Bucket::kUnknown;
  Layer layer = Layer::kPhases;
  bool is_measured = false;  // somebody saw it begin and end; else estimated
  std::string source;        // from what: "pods' status", "steps in the log of rank 0"
};

// GPUs that a pod held.
struct Holding {
  Millis begin = 0;
  Millis end = 0;
  int64_t gpus = 0;
};

// They follow each other without a gap.
struct Segment {
  Millis begin = 0;
  Millis end = 0;
  Bucket bucket = Bucket::kUnknown;
  bool is_measured = false;
  std::string source;
  int attempt = 1;
  int64_t gpu_millis = 0;  // GPUs held, times how long

  Millis length() const { return end - begin; }
};

struct Sum {
  Millis millis = 0;
  Millis estimated = 0;  // of them
  int64_t gpu_millis = 0;
  std::vector<std::string> sources;  // each once, in the order of time
};

struct Ledger {
  Millis begin = 0;
  Millis end = 0;  // never before `begin`
  std::vector<Segment> segments;
  std::array<Sum, kBuckets> sums;
  int attempts = 1;

  Millis wall() const { return end - begin; }
  const Sum& operator[](Bucket bucket) const { return sums[static_cast<size_t>(bucket)]; }
  int64_t gpu_millis() const;
  // Steps that stayed, of all the time from submission to the end; 0 to 1.
  double effective() const;
  // The same, of the time that the job was neither queued nor suspended.
  double goodput() const;
};

// `attempts`: when the second and later ones began, ascending.
Ledger MakeLedger(Millis begin, Millis end, const std::vector<Claim>& claims,
                  const std::vector<Holding>& holdings, const std::vector<Millis>& attempts);

// Of several runs: their times and sums added up, from 0 on, without segments.
Ledger AddedUp(const std::vector<Ledger>& ledgers);

Millis ToMillis(base::Time time);  // floored

}  // namespace runs
