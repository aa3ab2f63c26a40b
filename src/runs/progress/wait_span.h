// A stretch of a run's time in which its ranks waited: for each other, for data or for a
// checkpoint.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "runs/bucket.h"
#include "runs/progress/step_mark.h"

namespace runs {

struct WaitSpan {
  // The source. Samples of the ranks' stacks, every few seconds, are estimates; the others are
  // measurements.
  enum class Source { kLooks, kRanks, kLaunchers };
  Millis begin = 0;
  Millis end = 0;
  Bucket bucket = Bucket::kDataWait;  // one that has a name below
  Source source = Source::kLooks;

  friend bool operator==(const WaitSpan&, const WaitSpan&) = default;
};

// "rendezvous", "data", "save", "load", in files and documents; "" for other buckets.
constexpr std::string_view WordOf(Bucket bucket) {
  switch (bucket) {
    case Bucket::kRendezvous:
      return "rendezvous";
    case Bucket::kDataWait:
      return "data";
    case Bucket::kCheckpointSave:
      return "save";
    case Bucket::kRestore:
      return "load";
    default:
      return "";
  }
}

constexpr std::optional<Bucket> BucketOfWait(std::string_view word) {
  for (const auto bucket :
       {Bucket::kRendezvous, Bucket::kDataWait, Bucket::kCheckpointSave, Bucket::kRestore}) {
    if (WordOf(bucket) == word) return bucket;
  }
  return std::nullopt;
}

constexpr std::array<std::string_view, 3> kWaitSources = {"looks", "ranks", "launchers"};

constexpr std::string_view WordOf(WaitSpan::Source source) {
  return kWaitSources[static_cast<size_t>(source)];
}

constexpr std::optional<WaitSpan::Source> WaitSourceOf(std::string_view word) {
  for (size_t i = 0; i < kWaitSources.size(); ++i) {
    if (kWaitSources[i] == word) return static_cast<WaitSpan::Source>(i);
  }
  return std::nullopt;
}

}  // namespace runs
