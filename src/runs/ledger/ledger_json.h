// docs/reference/json.md, "report". Pure.
#pragma once

#include "runs/ledger/life.h"
#include "text/json.h"

namespace runs {

// {"begin", "end", "wallMs", "goodput", "effective", "attempts", "gpuMs", "buckets": [{"name",
// "meaning", "ms", "estimatedMs", "gpuMs", "sources"}], "segments": [{"fromMs", "ms", "bucket",
// "attempt", "measured", "source", "gpuMs"}]}: `fromMs` since the beginning; both lists add up to
// wallMs. All buckets, in their order.
text::Json LedgerToJson(const Ledger& ledger);

// {"last", "usualMs", "repeated", "source"}; null when no step is known.
text::Json StepsToJson(const Life& life, const StepFacts& facts);

}  // namespace runs
