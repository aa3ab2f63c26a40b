// docs/reference/json.md, "report". Pure.
#pragma once

#include "runs/ledger/life.h"
#include "text/json.h"

namespace runs {

// {"begin", "end", "wallMs", "goodput", "effective", "attempts", "gpuMs", "buckets": [{"name",
// "meaning", "ms", "estimatedMs", "gpuMs", "sources"}], "segments": [{"fromMs", "ms", "bucket",
// "attempt", "measured", "source", "gpuMs"}]}: `fromMs` counts from the beginning; both lists add
// up to wallMs; `buckets` has all of them, in the order of the enum.
text::Json LedgerToJson(const Ledger& ledger);

// {"last", "usualMs", "repeated", "source"}; null without known steps.
text::Json StepsToJson(const Life& life, const StepFacts& facts);

}  // namespace runs
