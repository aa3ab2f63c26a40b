// What each rank of a run used while it ran: one look a second for an hour, one every ten seconds
// for ten hours, then one a minute. Pure.
//
// Its file is text:
//
//   t 1764000000        the time of the looks that follow, in seconds
//   3 98 2100 40 1 95 l rank, CPU in hundredths of a processor, memory in MiB, I/O in KiB a second,
//                       seconds since its last line (each "-": not known), how busy its GPUs were
//                       in percent (absent if not known), what StallRole says ("" of kNone)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/json.h"

namespace runs {

// Beside kMostBytesOfAnHour of scalars: a megabyte for an hour of a job.
inline constexpr size_t kMostRankBytesOfAnHour = 600'000;
inline constexpr int64_t kMostColumns = 240;   // of a grid
inline constexpr size_t kMostCells = 100'000;  // of a grid, each with six values

// The part that a stall (answers/stall) gives a rank.
enum class StallRole : char { kNone = '-', kLate = 'l', kWaits = 'w' };

struct RankSample {
  int64_t at = 0;  // seconds since the epoch
  int rank = 0;
  // Nullopt where the look did not show it.
  std::optional<int64_t> cpu;     // hundredths of a processor, since the look before
  std::optional<int64_t> memory;  // MiB, resident
  std::optional<int64_t> io;      // KiB a second that it read and wrote
  std::optional<int64_t> quiet;
  std::optional<int64_t> gpu;  // percent of the time that its GPUs were busy, their mean
  StallRole role = StallRole::kNone;
  bool operator==(const RankSample&) const = default;
};

// What the ranks of one look used, on average; nullopt where the look shows it of no rank.
struct MeanUse {
  std::optional<int64_t> cpu;  // hundredths of a processor
  std::optional<int64_t> gpu;  // percent
  bool operator==(const MeanUse&) const = default;
};
MeanUse MeanOf(const std::vector<RankSample>& samples);

// Seconds between two looks when there are so many ranks: one, where kMostRankBytesOfAnHour permits
// it.
int64_t SecondsBetweenLooks(size_t ranks);

// The lines of samples that are sorted by time.
std::string RankLines(const std::vector<RankSample>& samples);
// Sorted by time. Lines that are malformed are passed over: the last one may be cut.
std::vector<RankSample> ReadRankLines(std::string_view file);
// The same with fewer old looks: averages of CPU, I/O and GPUs, the maximum of the others.
std::vector<RankSample> Thinned(const std::vector<RankSample>& samples);

// docs/reference/json.md, "ranks over time": all ranks on one grid of time, of at most `columns`.
// `between`: seconds between two looks; nullopt for SecondsBetweenLooks.
text::Json RankGrid(const std::vector<RankSample>& samples, int64_t columns,
                    std::optional<int64_t> between = std::nullopt);

}  // namespace runs
