// What `report` prints. Pure.
#pragma once

#include <string>
#include <vector>

#include "arena/jobs/records.h"
#include "runs/ledger/ledger.h"
#include "runs/ledger/life.h"

namespace arena {

struct RunReport {
  RunRecord run;
  runs::Life life;
  runs::Ledger ledger;
};

// "user", "queue", "label=KEY"; kInvalidArgument for anything else. Of a run: whose it is, "-"
// where nothing says.
base::Status CheckGrouping(const std::string& by);
std::string GroupOf(const text::Json& job, const std::string& by);

// One run: its buckets that are not empty, and what would have saved the most.
std::string RenderReport(const RunReport& report, const std::string& painted_state);
// A row each, and the sum of all; with `by` a row for each group, the most wasteful first.
std::string RenderReports(const std::vector<RunReport>& reports, const std::string& by);

// docs/reference/json.md, "report".
text::Json ReportToJson(const RunReport& report);
text::Json ReportsToJson(const std::vector<RunReport>& reports, const std::string& by);

}  // namespace arena
