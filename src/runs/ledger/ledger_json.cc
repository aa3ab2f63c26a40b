#include "runs/ledger/ledger_json.h"

#include <chrono>

namespace runs {
namespace {

std::string TimeOf(Millis at) {
  return base::FormatRfc3339Micro(base::Time(std::chrono::milliseconds(at)));
}

text::Json BucketToJson(Bucket bucket, const Sum& sum) {
  text::Array sources;
  for (const std::string& source : sum.sources) sources.emplace_back(source);
  return text::Object{{"name", NameOf(bucket)},  {"meaning", MeaningOf(bucket)},
                      {"ms", sum.millis},        {"estimatedMs", sum.estimated},
                      {"gpuMs", sum.gpu_millis}, {"sources", std::move(sources)}};
}

}  // namespace

text::Json LedgerToJson(const Ledger& ledger) {
  text::Array buckets;
  for (size_t i = 0; i < kBuckets; ++i) {
    buckets.push_back(BucketToJson(static_cast<Bucket>(i), ledger.sums[i]));
  }
  text::Array segments;
  for (const Segment& segment : ledger.segments) {
    segments.push_back(text::Object{{"fromMs", segment.begin - ledger.begin},
                                    {"ms", segment.length()},
                                    {"bucket", NameOf(segment.bucket)},
                                    {"attempt", segment.attempt},
                                    {"measured", segment.is_measured},
                                    {"source", segment.source},
                                    {"gpuMs", segment.gpu_millis}});
  }
  return text::Object{{"begin", TimeOf(ledger.begin)},   {"end", TimeOf(ledger.end)},
                      {"wallMs", ledger.wall()},         {"goodput", ledger.goodput()},
                      {"effective", ledger.effective()}, {"attempts", ledger.attempts},
                      {"gpuMs", ledger.gpu_millis()},    {"buckets", std::move(buckets)},
                      {"segments", std::move(segments)}};
}

text::Json StepsToJson(const Life& life, const StepFacts& facts) {
  if (life.steps.empty()) return text::Json(nullptr);
  return text::Object{{"last", facts.last},
                      {"usualMs", facts.step_millis},
                      {"repeated", facts.repeated},
                      {"source", life.step_source}};
}

}  // namespace runs
