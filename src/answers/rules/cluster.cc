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
      {.kind = "image-pull",
       .title = "the image could not be pulled",
       .advice = Advice::kFixFirst,
       .advice_text = "Check the image's name and tag, and that the registry has it.",
       .exceptions = {},
       .lines = {"Error response from daemon: manifest for * not found",
                 "Error response from daemon: *manifest unknown"}},
      {.kind = "image-pull",
       .title = "the registry allows no more pulls for now",
       .advice = Advice::kRetry,
       .advice_text = "Wait, pull with credentials, or use a mirror.",
       .exceptions = {},
       .lines = {"toomanyrequests: "}},
      {.kind = "cluster-quota",
       .title = "the queue's limits do not allow it",
       .advice = Advice::kRetry,
       .advice_text = "Ask for less, end something else, or have the limit raised.",
       .exceptions = {},
       .lines = {"sbatch: error: *QOS*", "sbatch: error: *limit", "srun: error: *QOS*"}},
      {.kind = "admission",
       .title = "the queue refused it",
       .advice = Advice::kFixFirst,
       .advice_text =
           "Change what the message names: partition, account, or what the job asks for.",
       .exceptions = {},
       .lines = {"sbatch: error: Batch job submission failed: ",
                 "srun: error: Unable to allocate resources: "}},
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
