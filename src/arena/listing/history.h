// The table of runs: `history`, and `list --all`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arena/app/app.h"
#include "arena/listing/records.h"
#include "cli/command.h"

namespace arena {

inline constexpr int64_t kUsualLimit = 50;

struct HistoryQuery {
  bool all_namespaces = false;
  std::string output;           // "", wide, json or yaml
  int64_t limit = kUsualLimit;  // 0 for all
};

base::Result<int> PrintHistory(Context& context, const HistoryQuery& query, cli::Invocation& call);

// Completes jobs that a list returned with only the fields for their summary, one request each. A
// job that is gone by now stays as it is.
base::Status ReadCommands(cluster::Client& client, std::vector<RunRecord>& runs);

// A run for `-o json`, also of `show`.
text::Json RunToJson(const RunRecord& run, base::Time now);

}  // namespace arena
