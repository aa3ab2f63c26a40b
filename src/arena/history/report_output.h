// The output of `report`. Pure.
#pragma once

#include <string>
#include <vector>

#include "arena/listing/records.h"
#include "runs/ledger/ledger.h"
#include "runs/ledger/life.h"

namespace arena {

struct RunReport {
  RunRecord run;
  bool is_sweep = false;
  runs::Life life;
  runs::Ledger ledger;
};

// Parses "user", "queue" and "label=KEY"; kInvalidArgument for anything else. GroupOf returns a
// run's value, "-" if it has none.
base::Status CheckGrouping(const std::string& by);
std::string GroupOf(const text::Json& job, const std::string& by);

// One run: its non-empty buckets, and what would have saved the most.
std::string RenderReport(const RunReport& report, const std::string& painted_state);
// One row per run, and the sum; with `by` one row per group, the most wasteful first.
std::string RenderReports(const std::vector<RunReport>& reports, const std::string& by);

// docs/reference/json.md, "report".
text::Json ReportToJson(const RunReport& report);
text::Json ReportsToJson(const std::vector<RunReport>& reports, const std::string& by);

}  // namespace arena
