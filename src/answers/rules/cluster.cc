#include "answers/rule.h"

namespace answers {

// By lines that the cluster's own programs print; what a pod's status says is in facts.cc.
std::vector<Rule> ClusterRules() {
  return {
      {.kind = "deadline",
       .title = "it ran longer than it was allowed to",
       .advice = Advice::kFixFirst,
       .advice_text = "Allow more time, or save checkpoints and go on from the last one.",
       .exceptions = {},
       .lines = {"slurmstepd: error: *DUE TO TIME LIMIT"}},
      {.kind = "preempted",
       .title = "a job of higher priority took its place",
       .advice = Advice::kRetry,
       .advice_text = "Submit it again, from the last checkpoint.",
       .exceptions = {},
       .lines = {"slurmstepd: error: *DUE TO PREEMPTION"}},
      {.kind = "node-lost",
       .title = "the node went away",
       .advice = Advice::kRetryElsewhere,
       .advice_text = "Submit it again, from the last checkpoint; look at the node before it gets "
                      "work.",
       .exceptions = {},
       .lines = {"slurmstepd: error: *DUE TO NODE FAILURE", "srun: error: Node failure on"}},
      {.kind = "stopped",
       .title = "somebody cancelled it",
       .advice = Advice::kNone,
       .advice_text = "Run it again when you want it to go on.",
       .exceptions = {},
       .lines = {"slurmstepd: error: *** JOB * CANCELLED AT",
                 "slurmstepd: error: *** STEP * CANCELLED AT"},
       .level = Level::kConsequence},
  };
}

}  // namespace answers
