// Runs of now and of before: jobs, and what the embedded cluster remembers of jobs that were
// deleted (local/server/routing/records.h). Of another cluster it is what this machine submitted
// there, as it saw it last (seen_runs.h).
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
  // Of one that is gone: as it was last, with the last pod of each name.
  TrainingJob job;
  std::vector<text::Json> past_pods;  // that are gone, of earlier attempts too; the oldest first
  std::vector<base::Time> past_ends;  // when each of them was deleted
  // Of a run that is gone: when it was deleted, on another cluster when it was seen last.
  std::optional<base::Time> deleted;

  // What tells runs of one name apart: the beginning of the uid.
  std::string id() const;
};

inline constexpr std::string_view kDeletedStatus = "DELETED";

// By a job's name, or the beginning of an id (four digits or more). A job that is there comes
// before one that is gone, of those the newest. kNotFound; kInvalidArgument when an id begins
// several.
base::Result<RunRecord> FindRun(cluster::Client& client, const Context& context,
                                const std::string& run);

// A gone run of that name or id; nullopt when there is none.
base::Result<std::optional<RunRecord>> FindGoneRun(cluster::Client& client, const Context& context,
                                                   const std::string& run);

struct KnownRuns {
  std::vector<RunRecord> runs;  // the newest first, without past_pods; gone ones without pods
  int64_t total = 0;            // without the limit
};
// Of a namespace, "" is all; at most `limit`, 0 is all.
base::Result<KnownRuns> ListRuns(cluster::Client& client, const Context& context,
                                 const std::string& namespace_name, int64_t limit);

// Reads what a list leaves out: the whole job, and the pods.
base::Status ReadWhole(cluster::Client& client, const Context& context, RunRecord& run);

// Nothing of a run that is gone is remembered any more.
base::Status ForgetRun(cluster::Client& client, const Context& context, const text::Json& job);

}  // namespace arena
