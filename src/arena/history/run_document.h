// A run as JSON, for `show -o json` and the page.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arena/history/facts.h"
#include "arena/listing/records.h"
#include "base/clock.h"
#include "text/json.h"

namespace arena {

// One run of an instance: in its current pod or an earlier one, or before a restart of the pod's
// container.
struct Attempt {
  std::string instance;
  int number = 1;  // among the instance's attempts
  std::string status;
  std::optional<int64_t> exit_code;
  std::string reason;
  std::string started;
  std::string ended;
  std::string node;
};

// In the order of their creation. For a container that was restarted in place only the last two
// runs are known.
std::vector<Attempt> AttemptsOf(const RunRecord& run);

// docs/reference/json.md, "show".
text::Json RunDocument(const RunRecord& run, const RunFacts& facts, base::Time now);

}  // namespace arena
