// The documents that the page reads, most of them the same as the verbs' -o json, with secrets
// masked. All functions are thread safe, and block on the cluster.
#pragma once

#include <string>
#include <vector>

#include "arena/app/app.h"
#include "base/result.h"
#include "cluster/client.h"
#include "text/json.h"

namespace dashboard {

// The context for one namespace.
arena::Context InNamespace(const arena::Context& context, const std::string& namespace_name);

// {"run": `show -o json`, "trials": a sweep's, "masked": [names of variables]}
base::Result<text::Json> RunPage(cluster::Client& client, const arena::Context& context,
                                 const std::string& run);
// {"verdict": `explain -o json`, "fine": TEXT if the run has not failed, else null,
//  "text": what `explain` prints}
base::Result<text::Json> VerdictPage(cluster::Client& client, const arena::Context& context,
                                     const std::string& run);
// What the run's folder had that its commit had not, as `code --diff` prints it: {"commit",
// "changes": FILES, "diff": TEXT}; kNotFound, with a text for the user, if that is not known.
base::Result<text::Json> DiffPage(cluster::Client& client, const arena::Context& context,
                                  const std::string& run);
// `report -o json`: how the run spent its time.
base::Result<text::Json> ReportPage(cluster::Client& client, const arena::Context& context,
                                    const std::string& run);
// `report --since TIME --by GROUPING -o json` of a namespace ("" for all), without "runs".
base::Result<text::Json> ReportsPage(cluster::Client& client, const arena::Context& context,
                                     const std::string& namespace_name, const std::string& since,
                                     const std::string& by);
// {"uid", "sources", "series"} (docs/reference/json.md, "progress"), with at most `points` values
// of each scalar, and "newest" (progress.h); empty if the cluster has none.
base::Result<text::Json> ProgressPage(cluster::Client& client, const arena::Context& context,
                                      const std::string& run, int64_t points);
// What each rank used over time, in at most `columns` (docs/reference/json.md, "ranks over time");
// without ranks if that is not known.
base::Result<text::Json> StripPage(cluster::Client& client, const arena::Context& context,
                                   const std::string& run, int64_t columns);
// {"ranks": `get --ranks -o json`}
base::Result<text::Json> RanksPage(cluster::Client& client, const arena::Context& context,
                                   const std::string& job);
// {"runs": `history -o json`, "total": NUMBER WITHOUT LIMIT}; `namespace_name` "" for all.
base::Result<text::Json> HistoryPage(cluster::Client& client, const arena::Context& context,
                                     const std::string& namespace_name, int64_t limit);
// `compare -o json`
base::Result<text::Json> ComparePage(cluster::Client& client, const arena::Context& context,
                                     const std::vector<std::string>& runs);
// When the waiting jobs of these keys (NAMESPACE/NAME) will start: {"starts": {KEY: what the
// embedded cluster predicts (local/daemon/forecaster.h)}}; empty where nothing predicts it.
base::Result<text::Json> StartsPage(cluster::Client& client, const arena::Context& context,
                                    const std::vector<std::string>& jobs);
// machine.h
base::Result<text::Json> MachinePage(cluster::Client& client, const arena::Context& context);

}  // namespace dashboard
