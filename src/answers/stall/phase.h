// What a job spends its time on, judged by the stacks of its ranks at one moment. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "answers/traceback.h"

namespace answers {

enum class Phase {
  kNone,        // anything else, such as computing
  kRendezvous,  // in init_process_group: ranks find each other
  kDataWait,    // in a DataLoader: waiting for the next batch, or making it
  kSave,        // a checkpoint
  kLoad,
};

// For one thread; the innermost frame first.
Phase PhaseOf(const std::vector<Frame>& frames);

// For the job. `dumps`: stacks (stack.h), by rank. The lowest rank decides; if it waits for others
// in a collective, and one of those waits for data, the job waits for data.
Phase PhaseOfJob(const std::map<int, std::string>& dumps);

}  // namespace answers
