// What the parts of the server share. Owned by the ApiServer, which outlives its requests.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "local/server/backend/admission.h"
#include "local/server/backend/exec_source.h"
#include "local/server/backend/initial_lists.h"
#include "local/server/backend/log_source.h"
#include "local/server/backend/port_source.h"
#include "local/server/backend/timers.h"
#include "local/server/backend/watch_budget.h"
#include "local/server/kinds/job_summaries.h"
#include "local/store/store.h"

namespace local::server {

struct Backend {
  base::Clock* clock = nullptr;
  Admission admission;                                // may be empty
  LogSource* log_source = nullptr;                    // may be null
  ExecSource* exec_source = nullptr;                  // may be null
  PortSource* port_source = nullptr;                  // may be null
  std::function<std::vector<std::string>()> notices;  // may be empty
  std::shared_ptr<Timers> timers;
  // How many long lists are being sent (list_stream.h).
  std::shared_ptr<std::atomic<int>> list_streams = std::make_shared<std::atomic<int>>(0);
  std::unique_ptr<JobSummaries> summaries;
  const std::unique_ptr<WatchBudget> watch_budget = std::make_unique<WatchBudget>();
  std::unique_ptr<store::Store> store;          // destroyed early, and with it all pending writes
  std::unique_ptr<InitialLists> initial_lists;  // last: reads from the store
};

}  // namespace local::server
