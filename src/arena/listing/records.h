// Existing and former runs: jobs, and the embedded cluster's records of deleted jobs
// (local/server/backend/records.h). For another cluster: what this machine submitted there, as it
// was last seen (seen_runs.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arena/app/app.h"
#include "arena/jobs/jobs.h"
#include "base/clock.h"
#include "cluster/client.h"
#include "text/json.h"

namespace arena {

struct RunRecord {
  // A deleted one in its last state, with the last pod of each name.
  TrainingJob job;
  std::vector<text::Json> past_pods;  // deleted pods, of earlier attempts too; oldest first
  std::vector<base::Time> past_ends;  // when each of them was deleted
  // When a deleted run was deleted; on another cluster, when it was last seen.
  std::optional<base::Time> deleted;

  // Distinguishes runs of one name: the beginning of the uid.
  std::string id() const;
};

struct PodOfRun {
  const text::Json* pod;  // part of the run
  bool is_gone;           // deleted: only its uid leads to its log
  std::optional<base::Time> deleted;
};
// All pods of a run, of earlier attempts too; oldest first.
std::vector<PodOfRun> PodsOf(const RunRecord& run);

inline constexpr std::string_view kDeletedStatus = "DELETED";

// Finds a run by a job's name, or by the first four or more digits of an id. Prefers an existing
// job, then the newest deleted one. kNotFound; kInvalidArgument if several ids match.
base::Result<RunRecord> FindRun(cluster::Client& client, const Context& context,
                                const std::string& run);

// The job, with the last deleted pod of each name that has no pod now: what is left of a suspended
// job. On another cluster the job as it is.
base::Result<TrainingJob> WithPastPods(cluster::Client& client, const Context& context,
                                       TrainingJob job);

// A deleted run of that name or id; nullopt if there is none.
base::Result<std::optional<RunRecord>> FindGoneRun(cluster::Client& client, const Context& context,
                                                   const std::string& run);

struct KnownRuns {
  std::vector<RunRecord> runs;  // newest first, without past_pods; deleted ones without pods
  int64_t total = 0;            // regardless of the limit
};
// The runs of a namespace ("" for all), at most `limit` (0 for all).
base::Result<KnownRuns> ListRuns(cluster::Client& client, const Context& context,
                                 const std::string& namespace_name, int64_t limit);

// Reads what lists leave out: the whole job, and the pods.
base::Status ReadWhole(cluster::Client& client, const Context& context, RunRecord& run);

// Forgets a deleted run.
base::Status ForgetRun(cluster::Client& client, const Context& context, const text::Json& job);

}  // namespace arena
