// A run as programs are told of it: `show -o json`, and the page.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arena/history/facts.h"
#include "arena/jobs/records.h"
#include "base/clock.h"
#include "text/json.h"

namespace arena {

// A run of one instance: its pod's, of this attempt or an earlier one.
struct Attempt {
  std::string instance;
  std::string status;
  std::optional<int64_t> exit_code;
  std::string reason;
  std::string started;
  std::string ended;
  std::string node;
};

// In the order in which they were made.
std::vector<Attempt> AttemptsOf(const RunRecord& run);

// docs/reference/json.md, "show".
text::Json RunDocument(const RunRecord& run, const RunFacts& facts, base::Time now);

}  // namespace arena
