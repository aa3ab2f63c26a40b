// What is known of a run, wherever from, as times; and the ledger that follows. Any of it may be
// missing, out of order or on another clock. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runs/ledger/ledger.h"
#include "runs/progress/step_mark.h"

namespace runs {

using MaybeMillis = std::optional<Millis>;

// One life of a replica: from when its pod was made, or its container started again, to its end.
struct ReplicaLife {
  std::string name;    // of the replica: lives of one name follow each other
  std::string resume;  // another one than in the life before: the job was suspended in between
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

// Something that a witness saw, with the layer that its bucket has.
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
  MaybeMillis ended;  // of the job, or deleted before that
  bool has_succeeded = false;
  bool has_finished = false;  // in either way; not set of one that was deleted
  MaybeMillis suspended;      // since when, of one that is suspended now
  std::vector<ReplicaLife> lives;
  std::vector<StepMark> steps;   // of one rank
  std::string step_source;       // "steps in the log of train-master-0"
  std::vector<Millis> lines;     // the first line of each attempt's programs, where it is known
  std::vector<Millis> meetings;  // when all ranks had found each other
  std::vector<Span> spans;       // kDataWait, kCheckpointSave, kRestore, kStalled, kRendezvous
};

// Ends are known to the second, and rounded down: raises `ended` to the last of what was told
// within that second.
void RefineEnd(Life& life);

// Up to `ended`, else up to `now`.
Ledger LedgerOf(const Life& life);

// What the steps tell beside the ledger.
struct StepFacts {
  int64_t last = 0;        // the highest number
  double step_millis = 0;  // the usual step: the median; 0 is not known
  int64_t repeated = 0;    // numbers that were made more than once
};
StepFacts FactsOfSteps(const Life& life);

}  // namespace runs
