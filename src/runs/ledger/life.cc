#include "runs/ledger/life.h"

#include <algorithm>

#include "runs/ledger/phases.h"
#include "runs/ledger/step_claims.h"
#include "runs/ledger/stretches.h"

namespace runs {
namespace {

// The beginning of steps, and the reach of a sample of stacks, are estimates. A measured rendezvous
// hides both, and the stall that it seemed to be before the last rank arrived.
Layer LayerOf(const Span& span) {
  switch (span.bucket) {
    case Bucket::kRendezvous:
      return span.is_measured ? Layer::kMeetings : Layer::kPhases;
    case Bucket::kSteps:
      return Layer::kSteps;
    case Bucket::kStalled:
      return Layer::kStalls;
    case Bucket::kIdle:
      return Layer::kIdle;
    case Bucket::kDataWait:
    case Bucket::kCheckpointSave:
    case Bucket::kRestore:
      return Layer::kWaits;
    default:
      return Layer::kPhases;
  }
}

// Ranks meet and wait for data only while they run, whatever time a sample stands for.
void AddSpan(const Span& span, const std::vector<Period>& periods, std::vector<Claim>& claims) {
  const Claim claim{span.begin,    span.end,         span.bucket,
                    LayerOf(span), span.is_measured, span.source};
  if (span.bucket != Bucket::kRendezvous && span.bucket != Bucket::kDataWait) {
    claims.push_back(claim);
    return;
  }
  for (const Period& period : periods) {
    Claim& within = claims.emplace_back(claim);
    within.begin = std::max(span.begin, period.begin);
    within.end = std::min(span.end, period.end);
  }
}

Millis EndOf(const Life& life) { return std::max(life.submitted, life.ended.value_or(life.now)); }

// A pod's GPUs are released when the pod ends.
std::vector<Holding> HoldingsOf(const Life& life, Millis end) {
  std::vector<Holding> holdings;
  for (size_t i = 0; i < life.lives.size(); ++i) {
    const ReplicaLife& one = life.lives[i];
    const MaybeMillis begin = one.scheduled ? one.scheduled : one.started;
    MaybeMillis until = one.ended;
    // The next life of the same pod begins where this one ended.
    if (!until && i + 1 < life.lives.size() && life.lives[i + 1].name == one.name) {
      until = life.lives[i + 1].scheduled;
    }
    if (begin && one.gpus > 0) holdings.push_back({*begin, until.value_or(end), one.gpus});
  }
  return holdings;
}

}  // namespace

void RefineEnd(Life& life) {
  constexpr Millis kResolution = 1000;
  if (!life.ended) return;
  Millis latest = *life.ended;
  const auto extend_to = [&life, &latest](Millis at) {
    if (at > latest && at < *life.ended + kResolution) latest = at;
  };
  for (const StepMark& mark : life.steps) extend_to(mark.at);
  // A stall whose end nobody has noted yet lasts until now.
  for (const Span& span : life.spans) {
    if (span.bucket != Bucket::kStalled) extend_to(span.end);
  }
  for (const Millis line : life.lines) extend_to(line);
  for (const ReplicaLife& replica : life.lives) extend_to(replica.ended.value_or(latest));
  life.ended = latest;
  for (ReplicaLife& replica : life.lives) {
    const bool is_rounded = replica.ended && *replica.ended % kResolution == 0;
    const bool is_same_second =
        is_rounded && *replica.ended < latest && latest < *replica.ended + kResolution;
    if (is_same_second) replica.ended = latest;
  }
}

Ledger LedgerOf(const Life& life) {
  const Millis end = EndOf(life);
  Phases phases = PhasesOf(life, end);
  const Stretches stretches = StretchesOf(life, phases.periods);
  std::vector<Claim> claims = std::move(phases.claims);
  for (Claim& claim : ClaimsOfSteps(life, stretches)) claims.push_back(std::move(claim));
  for (const Span& span : life.spans) AddSpan(span, phases.periods, claims);
  std::vector<Millis> attempts;
  for (const Gap& gap : phases.gaps) attempts.push_back(gap.begin);
  for (const Stretch& stretch : stretches.all) {
    if (stretch.is_restart) attempts.push_back(stretch.period.begin);
  }
  std::sort(attempts.begin(), attempts.end());
  return MakeLedger(life.submitted, end, claims, HoldingsOf(life, end), attempts);
}

StepFacts FactsOfSteps(const Life& life) {
  const Phases phases = PhasesOf(life, EndOf(life));
  const Stretches stretches = StretchesOf(life, phases.periods);
  StepFacts facts;
  facts.step_millis = stretches.usual;
  const StepMark* highest = nullptr;
  for (const Stretch& stretch : stretches.all) {
    if (stretch.marks.empty()) continue;
    const StepMark& first = stretch.marks.front();
    if (highest != nullptr && stretches.can_compare && first.epoch == highest->epoch &&
        highest->step >= first.step) {
      facts.repeated += highest->step - first.step + 1;
    }
    if (highest == nullptr || IsBefore(*highest, stretch.marks.back())) {
      highest = &stretch.marks.back();
    }
  }
  if (highest != nullptr) facts.last = highest->step;
  return facts;
}

}  // namespace runs
