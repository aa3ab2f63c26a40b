#include "local/daemon/ranks/rank_sampler.h"

#include <algorithm>
#include <utility>

#include "answers/stall/phase.h"

namespace local::daemon {
namespace {

// A request for stacks wakes a rank up; StallWatch ignores the two samples after one, and needs
// others between.
constexpr std::chrono::seconds kShortest{5};
constexpr int kPartsOfAge = 1000;
constexpr std::chrono::minutes kTextHolds{1};
constexpr std::chrono::milliseconds kHalf{500};  // of a second

std::optional<runs::Bucket> BucketOf(answers::Phase phase) {
  switch (phase) {
    case answers::Phase::kRendezvous:
      return runs::Bucket::kRendezvous;
    case answers::Phase::kDataWait:
      return runs::Bucket::kDataWait;
    case answers::Phase::kSave:
      return runs::Bucket::kCheckpointSave;
    case answers::Phase::kLoad:
      return runs::Bucket::kRestore;
    case answers::Phase::kNone:
      break;
  }
  return std::nullopt;
}

}  // namespace

std::chrono::seconds SamplePeriod(std::chrono::seconds age) {
  return std::max(kShortest, age / kPartsOfAge);
}

std::optional<runs::WaitSpan> RankSampler::See(Instant now, base::Time wall,
                                               const std::vector<SampledRank>& ranks) {
  std::optional<runs::WaitSpan> found;
  if (const auto traces = snapshots_.See(wall, ranks); !traces.empty()) watch_.See(traces);
  if (look_) {
    found = Read();
    JudgeLate(now, wall);
  }
  const auto period = SamplePeriod(std::chrono::duration_cast<std::chrono::seconds>(now - began_));
  // Samples come a little more or less than a second after each other.
  if (!ranks.empty() && (!asked_ || now - *asked_ >= period - kHalf)) {
    asked_ = now;
    Ask(wall, period, ranks);
  }
  return found;
}

void RankSampler::Ask(base::Time wall, std::chrono::seconds period,
                      const std::vector<SampledRank>& ranks) {
  Look& look = look_.emplace(Look{});
  look.wall = wall;
  look.period = period;
  witness::PidsByFolder by_folder;
  for (const SampledRank& rank : ranks) {
    look.ranks[rank.pid] = rank.rank;
    by_folder[rank.folder].push_back(rank.pid);
  }
  look.stacks.emplace(by_folder);
}

std::optional<runs::WaitSpan> RankSampler::Read() {
  Look look = std::move(*look_);
  look_.reset();
  std::map<int, std::string> dumps;
  for (auto& [pid, dump] : look.stacks->Answers()) dumps[look.ranks.at(pid)] = std::move(dump);
  for (const auto& [rank, dump] : dumps) places_[rank].See(dump);
  const auto bucket = BucketOf(answers::PhaseOfJob(dumps));
  if (!bucket) return std::nullopt;
  // The sample is in the middle of the time for which it stands.
  const runs::Millis at = runs::ToMillis(look.wall);
  const runs::Millis half = std::chrono::milliseconds(look.period).count() / 2;
  return runs::WaitSpan{at - half, at + half, *bucket};
}

void RankSampler::JudgeLate(Instant now, base::Time wall) {
  const auto straggler = watch_.straggler();
  if (!straggler) {
    late_.reset();
    late_rank_ = -1;
    return;
  }
  const bool is_new = std::exchange(late_rank_, straggler->rank) != straggler->rank || !late_;
  if (!is_new && now - text_made_ < kTextHolds) return;
  if (is_new) late_ = Late{wall, ""};
  text_made_ = now;
  late_->text = answers::Say(*straggler);
  const std::string place = places_[straggler->rank].Say();
  if (!place.empty()) late_->text += "; it is " + place;
}

}  // namespace local::daemon
