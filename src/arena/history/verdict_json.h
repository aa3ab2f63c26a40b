// What is said of why a run is as it is: `explain`, and the page.
#pragma once

#include <optional>
#include <string>

#include "answers/evidence.h"
#include "answers/verdict.h"
#include "arena/jobs/records.h"
#include "text/json.h"

namespace arena {

// docs/reference/json.md, "explain".
text::Json VerdictToJson(const answers::Verdict& verdict, const answers::Evidence& evidence);

// Of a run that has not failed: why it waits, or that all is well. Nullopt of one that has.
std::optional<std::string> NotFailed(const RunRecord& run);

}  // namespace arena
