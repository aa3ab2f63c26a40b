// The trial of a sweep that `explain` explains.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arena/logs/evidence.h"
#include "arena/run/sweep_table.h"
#include "base/result.h"
#include "text/json.h"

namespace arena {

struct ExplainedTrial {
  TrialRow row;                   // has ended
  std::vector<int64_t> failed{};  // the indices of all that failed, in order
  int64_t trials = 0;             // of the sweep
  bool HasFailed() const { return row.result->exit_code != 0; }
};

// The trial of the sweep `name` with the index `wanted` or, without one, the first that failed;
// nullopt if none has failed. kInvalidArgument when there is no such trial, or it has not ended.
base::Result<std::optional<ExplainedTrial>> ChooseTrial(const std::vector<TrialRow>& rows,
                                                        int64_t trials,
                                                        std::optional<int64_t> wanted,
                                                        const std::string& name);

// For VerdictOf. `folder` is the run's on this machine ("" for none).
EndedTrial EvidenceToRead(const ExplainedTrial& trial, const std::string& folder);

// Adds how the trials of a sweep ended, to what their logs in its run folder `folder` say.
void AddTrialEnds(const std::string& folder, answers::Evidence& evidence);

// "1 (lr=3): one of 2 that failed, of 5; the next: muster explain rates --trial 4". `command` is
// the one that explains the sweep.
std::string Describe(const ExplainedTrial& trial, const std::string& command);
text::Json ToJson(const ExplainedTrial& trial);

}  // namespace arena
