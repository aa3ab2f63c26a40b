// What the page asks for: documents that the verbs with -o json make too. Each blocks on the
// cluster; thread safe. Secrets in them are masked.
#pragma once

#include <string>
#include <vector>

#include "arena/app/app.h"
#include "base/result.h"
#include "cluster/client.h"
#include "text/json.h"

namespace dashboard {

// A context is of one namespace.
arena::Context InNamespace(const arena::Context& context, const std::string& namespace_name);

// {"run": `show -o json`, "trials": of a sweep, "masked": [names of variables]}
base::Result<text::Json> RunPage(cluster::Client& client, const arena::Context& context,
                                 const std::string& run);
// {"verdict": `explain -o json`, "fine": TEXT of a run that has not failed, or null,
//  "text": what `explain` prints}
base::Result<text::Json> VerdictPage(cluster::Client& client, const arena::Context& context,
                                     const std::string& run);
// `report -o json`: where the time of the run went.
base::Result<text::Json> ReportPage(cluster::Client& client, const arena::Context& context,
                                    const std::string& run);
// {"uid", "sources", "series"} (docs/reference/json.md, "progress"), with at most as many values of
// each scalar; empty ones where the cluster knows nothing of it.
base::Result<text::Json> ProgressPage(cluster::Client& client, const arena::Context& context,
                                      const std::string& run, int64_t points);
// {"ranks": `get --ranks -o json`}
base::Result<text::Json> RanksPage(cluster::Client& client, const arena::Context& context,
                                   const std::string& job);
// {"runs": `history -o json`, "total": HOW MANY WITHOUT A LIMIT}; `namespace_name` "" is all.
base::Result<text::Json> HistoryPage(cluster::Client& client, const arena::Context& context,
                                     const std::string& namespace_name, int64_t limit);
// `compare -o json`
base::Result<text::Json> ComparePage(cluster::Client& client, const arena::Context& context,
                                     const std::vector<std::string>& runs);
// machine.h
base::Result<text::Json> MachinePage(cluster::Client& client, const arena::Context& context);

}  // namespace dashboard
