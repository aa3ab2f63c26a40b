// The known times of a run, from all sources, and the ledger derived from them. Any of them may be
// missing, out of order or from another clock. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runs/ledger/ledger.h"
#include "runs/progress/step_mark.h"

namespace runs {

using MaybeMillis = std::optional<Millis>;

// One life of a replica: from the creation of its pod, or a restart of its container, to its end.
struct ReplicaLife {
  std::string name;    // of the replica; its lives follow each other
  std::string resume;  // if it differs from the previous life's, the job was suspended in between
  int64_t gpus = 0;
  MaybeMillis created;
  MaybeMillis scheduled;
  MaybeMillis accepted;  // by the node
  MaybeMillis init_begin;
  MaybeMillis init_end;
  MaybeMillis started;
  MaybeMillis ended;
  bool has_succeeded = false;
};

// A stretch of time that a witness observed; its bucket determines the layer.
struct Span {
  Millis begin = 0;
  Millis end = 0;
  Bucket bucket = Bucket::kUnknown;
  bool is_measured = false;
  std::string source;
};

struct Life {
  Millis submitted = 0;
  Millis now = 0;
  MaybeMillis ended;  // when the job ended or was deleted
  bool has_succeeded = false;
  bool has_finished = false;  // succeeded or failed; false for a deleted job
  MaybeMillis suspended;      // since when, if it is suspended now, or was when it was deleted
  std::vector<ReplicaLife> lives;
  std::vector<StepMark> steps;  // of one rank
  std::string step_source;      // "steps in the log of train-master-0"
  std::vector<Millis> lines;    // the time of each attempt's first line, as far as known
  // kDataWait, kCheckpointSave, kRestore, kStalled, kRendezvous; for a sweep's trials kSteps (they
  // hide what failed beside them) and kLostProgress.
  std::vector<Span> spans;
};

// Kubernetes rounds ends down to the second: raises `ended`, and the replicas' ends that are
// rounded to that second, to the last event within it.
void RefineEnd(Life& life);

// Until `ended`, or `now` while the job runs.
Ledger LedgerOf(const Life& life);

// Facts about the steps beside the ledger.
struct StepFacts {
  int64_t last = 0;        // the highest number
  double step_millis = 0;  // the median duration of a step; 0 if unknown
  int64_t repeated = 0;    // how many numbers occurred more than once
};
StepFacts FactsOfSteps(const Life& life);

}  // namespace runs
