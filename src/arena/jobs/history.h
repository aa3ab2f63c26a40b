// The table of runs: `history`, and `list --all`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arena/app/app.h"
#include "arena/jobs/records.h"
#include "cli/command.h"

namespace arena {

inline constexpr int64_t kUsualLimit = 50;

struct HistoryQuery {
  bool all_namespaces = false;
  std::string output;           // "", wide, json or yaml
  int64_t limit = kUsualLimit;  // 0 is all
};

base::Result<int> PrintHistory(Context& context, const HistoryQuery& query, cli::Invocation& call);

// Where standing jobs were listed they hold only what their summaries are made of: reads the rest,
// a request each. One that has gone meanwhile stays as it is.
base::Status ReadCommands(cluster::Client& client, std::vector<RunRecord>& runs);

// What `-o json` says of a run, of `show` too.
text::Json RunToJson(const RunRecord& run, base::Time now);

}  // namespace arena
