// Maps requests to what they ask for. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "net/http/types.h"

namespace dashboard {

struct Route {
  enum class Kind {
    kAsset,     // a file of the page; `rest` is its path
    kSession,   // POST /api/session: exchanges the link's secret for a cookie
    kEvents,    // GET /api/events?job=NAMESPACE/NAME&log=1&...
    kState,     // GET /api/state
    kRun,       // GET /api/run/NAMESPACE/RUN
    kVerdict,   // GET /api/verdict/NAMESPACE/RUN
    kDiff,      // GET /api/diff/NAMESPACE/RUN
    kProgress,  // GET /api/progress/NAMESPACE/RUN
    kReport,    // GET /api/report/NAMESPACE/RUN
    kReports,   // GET /api/reports?since=&by=
    kRanks,     // GET /api/ranks/NAMESPACE/JOB
    kStrip,     // GET /api/strip/NAMESPACE/RUN
    kLogs,      // GET /api/logs/NAMESPACE/RUN?tail=&since=&grep=&ranks=&raw=&errors=&limit=
    kHistory,   // GET /api/history?limit=
    kCompare,   // GET /api/compare/NAMESPACE?run=&run=
    kMachine,   // GET /api/machine
    kStarts,    // GET /api/starts?job=NAMESPACE/NAME&job=
    kAction,    // POST /api/action
    kShell,     // GET /api/shell/NAMESPACE/JOB?instance=&columns=&rows=
    kTyped,     // POST /api/shell: what is typed into a shell
  };
  Kind kind = Kind::kAsset;
  std::string namespace_name, run;  // "" if the path has none
  std::string rest;
  net::Target target;

  bool is_data() const { return kind != Kind::kAsset && kind != Kind::kSession; }
};

// Nullopt for other requests.
std::optional<Route> RouteOf(std::string_view method, std::string_view target);

}  // namespace dashboard
