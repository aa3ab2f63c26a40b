// Where the time of runs went, read from the cluster: `report` in the terminal and on the page.
#pragma once

#include <string>
#include <vector>

#include "arena/app/app.h"
#include "arena/history/report_output.h"
#include "base/clock.h"
#include "cluster/client.h"

namespace arena {

// "7d", "2w", and Go's durations; kInvalidArgument for anything else.
base::Result<base::Duration> ReadSince(const std::string& text);

// `run` is whole (ReadWhole). Reads its logs (ReadLife).
RunReport ReportOn(cluster::Client& client, const Context& context, RunRecord run);

// The reports on the runs of a namespace ("" for all) that ended in the time `since` before now, or
// are still active; the newest first.
base::Result<std::vector<RunReport>> ReportsSince(cluster::Client& client, const Context& context,
                                                  const std::string& namespace_name,
                                                  base::Duration since);

}  // namespace arena
