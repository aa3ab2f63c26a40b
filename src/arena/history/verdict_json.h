// Why a run is in its state, for `explain` and the page.
#pragma once

#include <optional>
#include <string>

#include "answers/evidence.h"
#include "answers/verdict.h"
#include "arena/listing/records.h"
#include "text/json.h"

namespace arena {

// docs/reference/json.md, "explain".
text::Json VerdictToJson(const answers::Verdict& verdict, const answers::Evidence& evidence);

// For a run that has not failed: why it waits, or that all is well. Nullopt if it has failed.
std::optional<std::string> NotFailed(const RunRecord& run);

}  // namespace arena
