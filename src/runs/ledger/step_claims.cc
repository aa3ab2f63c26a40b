#include "runs/ledger/step_claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace runs {
namespace {

constexpr double kAtMostSteps = 1e12;  // milliseconds: the longest claim
// Ranks that were silent for so many strides, and for so long, before they failed were stuck.
constexpr double kStuckStrides = 10;
constexpr Millis kStuckMillis = 30'000;
// A stride may take this much longer than usual.
constexpr double kSlack = 1.5;

class StepClaims {
 public:
  StepClaims(const Life& life, const Stretches& stretches) : life_(life), stretches_(stretches) {}

  std::vector<Claim> Make() {
    for (size_t i = 0; i < stretches_.all.size(); ++i) {
      const Stretch& stretch = stretches_.all[i];
      ClaimStart(stretch);
      if (stretch.marks.empty()) continue;
      ClaimSteps(i);
      ClaimTail(stretch);
    }
    return std::move(claims_);
  }

 private:
  void Add(Millis begin, Millis end, Bucket bucket, Layer layer, bool is_measured,
           std::string source) {
    claims_.push_back({begin, end, bucket, layer, is_measured, std::move(source)});
  }

  Millis TimeOf(double steps) const {
    return std::llround(std::clamp(steps * stretches_.usual, 0.0, kAtMostSteps));
  }

  // How many steps lie behind the first mark of a stretch: if its number counts from 0 or 1, that
  // many; if it was resumed from a checkpoint, it is the first of its stride.
  int64_t StepsToFirst(const Stretch& stretch) const {
    return std::max<int64_t>(1, std::min(stretch.marks.front().step, stretches_.stride));
  }

  // When the steps of a stretch began.
  Millis BeginOf(const Stretch& stretch) const {
    const Millis first = stretch.marks.front().at;
    const Millis begin = first - TimeOf(static_cast<double>(StepsToFirst(stretch)));
    return std::clamp(begin, std::min(stretch.period.begin, first), first);
  }

  // The first of `times` within [begin, end).
  static MaybeMillis In(const std::vector<Millis>& times, Millis begin, Millis end) {
    MaybeMillis found;
    for (const Millis at : times) {
      if (at >= begin && at < end && (!found || at < *found)) found = at;
    }
    return found;
  }

  // The time before the first step, as far as its activities are known. Each claim hides the
  // earlier ones.
  void ClaimStart(const Stretch& stretch) {
    const Millis begin = stretch.period.begin;
    const bool has_steps = !stretch.marks.empty();
    const Millis end = has_steps ? BeginOf(stretch) : stretch.period.end;
    if (stretch.is_restart) {
      Add(begin, end, Bucket::kRecovery, Layer::kPhases, false, life_.step_source);
      return;
    }
    const MaybeMillis line = In(life_.lines, begin, end);
    const Span* const meeting = FirstMeeting(begin, end);
    const bool meets_first = meeting != nullptr && (!line || meeting->begin < *line);
    if (meets_first) {
      Add(begin, meeting->begin, Bucket::kInterpreters, Layer::kPhases, meeting->is_measured,
          meeting->source);
    } else if (line) {
      Add(begin, *line, Bucket::kInterpreters, Layer::kPhases, false, "first line of the log");
    }
    if (!has_steps) return;
    // A rendezvous within it hides it.
    const Millis from = meets_first ? meeting->begin : line.value_or(begin);
    Add(from, end, Bucket::kFirstStep, Layer::kPhases, false, life_.step_source);
  }

  // The first rendezvous that begins within [begin, end); nullptr if there is none.
  const Span* FirstMeeting(Millis begin, Millis end) const {
    const Span* first = nullptr;
    for (const Span& span : life_.spans) {
      const bool is_within = span.bucket == Bucket::kRendezvous && span.begin < span.end &&
                             span.begin >= begin && span.begin < end;
      if (is_within && (first == nullptr || span.begin < first->begin)) first = &span;
    }
    return first;
  }

  // When the last checkpoint that was being saved within [begin, end) was complete; else `begin`.
  Millis AfterSaves(Millis begin, Millis end) const {
    Millis after = begin;
    for (const Span& span : life_.spans) {
      const bool is_save = span.bucket == Bucket::kCheckpointSave;
      if (!is_save || span.end <= begin || span.begin >= end) continue;
      after = std::max(after, std::min(span.end, end));
    }
    return after;
  }

  // When the stretch at `index` had made everything that was not repeated, if a later stretch
  // begins below its last number; nullopt if all of it was kept.
  struct Cut {
    Millis at = 0;
    bool is_measured = false;
  };
  std::optional<Cut> CutOf(size_t index) const {
    if (!stretches_.can_compare) return std::nullopt;
    const Stretch& stretch = stretches_.all[index];
    const Stretch* lowest = nullptr;
    for (size_t i = index + 1; i < stretches_.all.size(); ++i) {
      const Stretch& later = stretches_.all[i];
      if (later.marks.empty()) continue;
      if (lowest == nullptr || IsBefore(later.marks.front(), lowest->marks.front())) {
        lowest = &later;
      }
    }
    if (lowest == nullptr) return std::nullopt;
    const StepMark& again = lowest->marks.front();
    if (IsBefore(stretch.marks.back(), again)) return std::nullopt;
    const auto first_lost =
        std::find_if(stretch.marks.begin(), stretch.marks.end(),
                     [&again](const StepMark& mark) { return !IsBefore(mark, again); });
    const bool is_each = stretches_.stride == 1;
    if (first_lost == stretch.marks.begin()) return Cut{BeginOf(stretch), is_each};
    const StepMark& kept = *(first_lost - 1);
    // The checkpoint from which the run was resumed was not lost.
    Cut cut{AfterSaves(kept.at, first_lost->at), is_each};
    // The run may have been resumed between two marks: at the first number of the resumed stretch,
    // less the steps that it made before that mark.
    const int64_t resumed_at = again.step - StepsToFirst(*lowest);
    if (again.epoch == kept.epoch && resumed_at > kept.step) {
      cut.is_measured = false;
      cut.at =
          std::min(first_lost->at, cut.at + TimeOf(static_cast<double>(resumed_at - kept.step)));
    }
    return cut;
  }

  void ClaimSteps(size_t index) {
    const Stretch& stretch = stretches_.all[index];
    const Millis begin = BeginOf(stretch);
    const Millis first = stretch.marks.front().at;
    const Millis last = stretch.marks.back().at;
    Add(begin, first, Bucket::kSteps, Layer::kSteps, false, life_.step_source);
    Add(first, last, Bucket::kSteps, Layer::kSteps, true, life_.step_source);
    const auto cut = CutOf(index);
    if (!cut) return;
    Add(cut->at, last, Bucket::kLostProgress, Layer::kLost, cut->is_measured, life_.step_source);
  }

  // Claims the time after the last number.
  void ClaimTail(const Stretch& stretch) {
    const Period& period = stretch.period;
    const Millis last = stretch.marks.back().at;
    if (period.end <= last) return;
    const Millis stride = TimeOf(kSlack * static_cast<double>(stretches_.stride));
    if (period.goes_on) {
      Add(last, std::min(period.end, last + 2 * stride), Bucket::kSteps, Layer::kSteps, false,
          life_.step_source);
      return;
    }
    if (!period.was_cut_off) {
      Add(last, period.end, Bucket::kEnding, Layer::kPhases, false, life_.step_source);
      return;
    }
    const Millis silent = period.end - last;
    const bool is_stuck = period.has_end && silent > kStuckMillis &&
                          static_cast<double>(silent) > kStuckStrides * static_cast<double>(stride);
    if (is_stuck && stride > 0) {
      Add(last, period.end, Bucket::kStalled, Layer::kPhases, false,
          fmt::format("no step for {} s before the end", silent / 1000));
      return;
    }
    const Millis cut_off = std::min(period.end, AfterSaves(last, period.end) + stride);
    Add(last, cut_off, Bucket::kLostProgress, Layer::kPhases, false, life_.step_source);
    // The programs were restarted at its end; when they had failed is unknown.
    if (!period.has_end) {
      Add(cut_off, period.end, Bucket::kRecovery, Layer::kPhases, false, life_.step_source);
    }
  }

  const Life& life_;
  const Stretches& stretches_;
  std::vector<Claim> claims_;
};

}  // namespace

std::vector<Claim> ClaimsOfSteps(const Life& life, const Stretches& stretches) {
  return StepClaims(life, stretches).Make();
}

}  // namespace runs
