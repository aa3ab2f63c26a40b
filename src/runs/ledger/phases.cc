#include "runs/ledger/phases.h"

#include <algorithm>
#include <map>

namespace runs {
namespace {

constexpr const char* kPodsStatus = "pods' status";
constexpr const char* kJobsStatus = "job's status";

using Lives = std::vector<const ReplicaLife*>;

Millis BeginningOf(const ReplicaLife& life) {
  for (const MaybeMillis& at : {life.created, life.scheduled, life.accepted, life.started}) {
    if (at) return *at;
  }
  return 0;
}

std::map<std::string_view, Lives> ByName(const Life& life) {
  std::map<std::string_view, Lives> lives;
  for (const ReplicaLife& one : life.lives) lives[one.name].push_back(&one);
  for (auto& [name, of_name] : lives) {
    std::stable_sort(of_name.begin(), of_name.end(),
                     [](const ReplicaLife* a, const ReplicaLife* b) {
                       return BeginningOf(*a) < BeginningOf(*b);
                     });
  }
  return lives;
}

// The latest of them; nullopt when one has none.
MaybeMillis Latest(const Lives& lives, MaybeMillis ReplicaLife::* member) {
  MaybeMillis latest;
  for (const ReplicaLife* life : lives) {
    if (!(life->*member)) return std::nullopt;
    latest = std::max(latest, life->*member);
  }
  return latest;
}

// The earliest of these times; none where no replica has one.
MaybeMillis Earliest(const Lives& lives, MaybeMillis ReplicaLife::* member) {
  MaybeMillis earliest;
  for (const ReplicaLife* life : lives) {
    if (life->*member && (!earliest || *(life->*member) < *earliest)) earliest = life->*member;
  }
  return earliest;
}

class PhasesMaker {
 public:
  PhasesMaker(const Life& life, Millis end) : life_(life), end_(end), by_name_(ByName(life)) {}

  Phases Make() {
    FindGaps();
    Lives first;
    for (const auto& [name, lives] : by_name_) first.push_back(lives.front());
    Millis begin = ClaimStart(first, life_.submitted);
    for (const Gap& gap : phases_.gaps) {
      AddPeriod(begin, gap.begin, true, gap.has_begin);
      begin = ClaimGap(gap);
    }
    ClaimEnding(begin);
    return std::move(phases_);
  }

 private:
  void FindGaps() {
    std::vector<Gap> gaps;
    for (const auto& [name, lives] : by_name_) {
      for (size_t i = 0; i + 1 < lives.size(); ++i) {
        const ReplicaLife& before = *lives[i];
        const ReplicaLife& after = *lives[i + 1];
        const Millis begin = before.ended.value_or(BeginningOf(after));
        gaps.push_back({begin, std::max(begin, after.started.value_or(end_)), !after.started,
                        before.ended.has_value(),
                        !after.resume.empty() && after.resume != before.resume});
      }
      const ReplicaLife& last = *lives.back();
      const bool is_over = life_.ended && !life_.suspended;
      if (is_over || !last.ended || last.has_succeeded) continue;
      gaps.push_back({*last.ended, end_, true, true, life_.suspended.has_value()});
    }
    if (gaps.empty() && life_.suspended) gaps.push_back({*life_.suspended, end_, true, true, true});
    Merge(std::move(gaps));
  }

  void Merge(std::vector<Gap> gaps) {
    for (Gap& gap : gaps) {
      gap.begin = std::clamp(gap.begin, life_.submitted, end_);
      gap.end = std::clamp(gap.end, gap.begin, end_);
    }
    std::sort(gaps.begin(), gaps.end(), [](const Gap& a, const Gap& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    });
    for (const Gap& gap : gaps) {
      if (phases_.gaps.empty() || gap.begin > phases_.gaps.back().end) {
        phases_.gaps.push_back(gap);
        continue;
      }
      Gap& last = phases_.gaps.back();
      last.end = std::max(last.end, gap.end);
      last.is_open |= gap.is_open;
      last.has_begin |= gap.has_begin;
      last.is_suspension |= gap.is_suspension;
    }
  }

  void Add(Millis begin, Millis end, Bucket bucket, Layer layer, const char* source) {
    phases_.claims.push_back({begin, end, bucket, layer, true, source});
  }

  // Claims the time from `from` until these have started, and returns when they have. Each phase
  // hides the ones before it.
  Millis ClaimStart(const Lives& lives, Millis from) {
    if (lives.empty() && life_.ended) return end_;  // no phase is left
    const MaybeMillis started = lives.empty() ? std::nullopt : Latest(lives, &ReplicaLife::started);
    const Millis to = std::clamp(started.value_or(end_), from, end_);
    Add(from, to, Bucket::kQueued, Layer::kPhases, kPodsStatus);
    if (lives.empty()) return to;
    if (const auto at = Latest(lives, &ReplicaLife::scheduled)) {
      Add(std::max(from, *at), to, Bucket::kAdmitted, Layer::kPhases, kPodsStatus);
    }
    // Between taking a pod and starting it, a node fetches its image.
    MaybeMillis image = Earliest(lives, &ReplicaLife::init_begin);
    if (!image) image = Latest(lives, &ReplicaLife::accepted);
    if (image) Add(std::max(from, *image), to, Bucket::kImage, Layer::kPhases, kPodsStatus);
    return to;
  }

  // The lives that began in the gap, one for each replica, whose start ended it.
  Lives After(const Gap& gap) const {
    Lives found;
    for (const auto& [name, lives] : by_name_) {
      for (size_t i = 1; i < lives.size(); ++i) {
        const Millis begin = lives[i - 1]->ended.value_or(BeginningOf(*lives[i]));
        const bool is_last = i + 1 == lives.size();
        const bool is_within = begin >= gap.begin && begin <= gap.end;
        // If several came within one gap, the last one counts.
        if (is_within && (is_last || lives[i + 1]->created.value_or(end_) > gap.end)) {
          found.push_back(lives[i]);
        }
      }
    }
    return found;
  }

  // Claims the gap, and returns when the programs run again.
  Millis ClaimGap(const Gap& gap) {
    if (!gap.is_suspension) {
      Add(gap.begin, gap.end, Bucket::kRecovery, Layer::kPhases, kPodsStatus);
      return gap.end;
    }
    const Lives after = After(gap);
    const MaybeMillis made = Earliest(after, &ReplicaLife::created);
    const Millis resumed = std::clamp(made.value_or(end_), gap.begin, gap.end);
    Add(gap.begin, resumed, Bucket::kIdle, Layer::kIdle, kJobsStatus);
    if (!after.empty() && resumed < gap.end) ClaimStart(after, resumed);
    return gap.end;
  }

  void AddPeriod(Millis begin, Millis end, bool was_cut_off, bool has_end) {
    if (end <= begin) return;
    phases_.periods.push_back({begin, end, was_cut_off, false, has_end});
  }

  // `begin`: since when the last programs run.
  void ClaimEnding(Millis begin) {
    if (!phases_.gaps.empty() && phases_.gaps.back().is_open) return;
    if (!life_.ended) {
      if (end_ > begin) phases_.periods.push_back({begin, end_, false, true, true});
      return;
    }
    MaybeMillis first;
    for (const auto& [name, lives] : by_name_) {
      const MaybeMillis ended = lives.back()->ended;
      if (ended && *ended >= begin && (!first || *ended < *first)) first = ended;
    }
    const Millis from = std::clamp(first.value_or(end_), begin, end_);
    AddPeriod(begin, from, !life_.has_succeeded, true);
    // Nothing has started: it ends in the phase in which it waited.
    if (begin < end_) Add(from, end_, Bucket::kEnding, Layer::kPhases, kPodsStatus);
  }

  const Life& life_;
  const Millis end_;
  const std::map<std::string_view, Lives> by_name_;
  Phases phases_;
};

}  // namespace

Phases PhasesOf(const Life& life, Millis end) { return PhasesMaker(life, end).Make(); }

}  // namespace runs
