// What a run spends its time on. Pure.
#pragma once

#include <cstddef>
#include <string_view>

namespace runs {

enum class Bucket {
  kQueued,          // waiting for admission and resources
  kAdmitted,        // admitted; nothing has started yet
  kImage,           // images, code, init containers
  kInterpreters,    // programs start, until their first line
  kRendezvous,      // the ranks find each other
  kFirstStep,       // until steps take their usual time
  kSteps,           // productive steps: their result was kept
  kDataWait,        // waiting for the next batch
  kCheckpointSave,  // saving a checkpoint; no step runs
  kRestore,         // loading a checkpoint
  kLostProgress,    // steps that were repeated after a restart, and the interrupted one
  kRecovery,        // from a failure until the programs run again
  kStalled,         // ranks wait for one that does not arrive
  kIdle,            // suspended
  kEnding,          // from the last step to the job's end
  kUnknown,
};
inline constexpr size_t kBuckets = 16;
// "queued", "image/code", "lost progress".
std::string_view NameOf(Bucket bucket);
// Its meaning in one short clause.
std::string_view MeaningOf(Bucket bucket);

}  // namespace runs
