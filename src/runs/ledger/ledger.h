// Where a run's time went: every millisecond from its submission to its end in exactly one bucket.
// Sources claim stretches of time for buckets. Where claims overlap, the one on the higher layer
// wins; time that nobody claims is unknown. So the buckets add up to the wall clock whatever is
// claimed, even when clocks jump. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runs/bucket.h"
#include "runs/progress/step_mark.h"

namespace runs {

// Higher layers hide lower ones.
enum class Layer { kPhases, kSteps, kWaits, kLost, kStalls, kMeetings, kIdle };

struct Claim {
  Millis begin = 0;
  Millis end = 0;  // if it is not after `begin`, the claim is empty
  Bucket bucket = Bucket::kUnknown;
  Layer layer = Layer::kPhases;
  bool is_measured = false;  // its begin and end were observed; otherwise it is estimated
  std::string source;        // "pods' status", "steps in the log of rank 0"
};

// GPUs that a pod held.
struct Holding {
  Millis begin = 0;
  Millis end = 0;
  int64_t gpus = 0;
};

// Segments follow each other without gaps.
struct Segment {
  Millis begin = 0;
  Millis end = 0;
  Bucket bucket = Bucket::kUnknown;
  bool is_measured = false;
  std::string source;
  int attempt = 1;
  int64_t gpu_millis = 0;  // number of held GPUs times milliseconds

  Millis length() const { return end - begin; }
};

struct Sum {
  Millis millis = 0;
  Millis estimated = 0;  // the part of `millis` that is estimated
  int64_t gpu_millis = 0;
  std::vector<std::string> sources;  // without repeats, in order of time
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
  // Productive steps as a share of the time from submission to end; 0 to 1.
  double effective() const;
  // Productive steps as a share of the time that the job was neither queued nor suspended.
  double goodput() const;
};

// `attempts`: the start times of the second and later attempts, ascending.
Ledger MakeLedger(Millis begin, Millis end, const std::vector<Claim>& claims,
                  const std::vector<Holding>& holdings, const std::vector<Millis>& attempts);

// The sums of several runs; it begins at 0 and has no segments.
Ledger AddedUp(const std::vector<Ledger>& ledgers);

}  // namespace runs
