// Reads PyTorch's flight recorder, as a rank's worker server returns it: the collectives that the
// rank has entered and completed.
//
//   {"pg_status": {"0": {"last_enqueued_collective": "6", "last_completed_collective": "5", ...}},
//    "entries": [{"collective_seq_id": 6, "pg_id": 0, "process_group": ["0", "default_pg"],
//                 "profiling_name": "gloo:barrier", "input_sizes": [[8]], ...}, ...], ...}
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace answers {

struct Collective {
  std::string name;        // "all_reduce"
  std::string sizes;       // of its inputs: "[8, 4]"; "" without inputs
  std::string dtypes;      // of its inputs: "Float"
  int64_t created_ns = 0;  // when it was entered, since the epoch
};

// One rank's record of one process group.
struct GroupTrace {
  // The numbers of the last such collectives; the first is 1, 0 means none yet. All backends report
  // these two; not all report a state for each collective.
  int64_t entered = 0;
  int64_t completed = 0;
  std::map<int64_t, Collective> collectives;  // by number; the recorder keeps only the last ones
};

// By the group's name, which is the same in all ranks.
using Trace = std::map<std::string, GroupTrace>;

// Nullopt if it is not a recorder's answer; empty while nothing has been recorded.
std::optional<Trace> ReadTrace(std::string_view json);

// A disagreement between the traces of ranks.
struct Disagreement {
  enum class Kind {
    kMissing,  // `odd` have not entered the collective in which `others` wait
    kOrder,    // `odd` call another collective
    kSizes,    // `odd` call it with another shape
    kDtypes,
  };
  Kind kind = Kind::kMissing;
  std::string group;
  int64_t number = 0;
  Collective expected;            // of the majority of `others`
  std::map<int, Collective> odd;  // by rank; for kMissing, the last one that the rank has entered
  std::vector<int> others;        // ascending
};

// The earliest disagreement in a group in which some rank still waits; a mismatch takes precedence
// over a later missing rank. `traces`: by rank. Nullopt when they agree or nobody waits.
std::optional<Disagreement> Compare(const std::map<int, Trace>& traces);

// How much later than the first rank a rank enters collectives. Only collectives that all members
// of the group have entered count. It compares clocks, so the ranks must be on one machine.
struct Lateness {
  int collectives = 0;  // how many were compared
  int last = 0;         // at how many of them it was the last
  std::chrono::nanoseconds median{};
};

// By rank; only ranks that share a collective with another rank.
std::map<int, Lateness> LatenessOf(const std::map<int, Trace>& traces);

// "rank 3", "ranks 0-2, 5": ascending.
std::string NameRanks(const std::vector<int>& ranks);

// Describes a mismatch, which no amount of waiting can resolve. `places`: each rank's position.
//   rank 1 calls barrier (train.py:9) where rank 0 calls all_reduce (train.py:12): collective #6
//   differs between ranks
std::string SayMismatch(const Disagreement& found, const std::map<int, std::string>& places);

// "all_reduce #412"
std::string NameOf(const Collective& collective, int64_t number);

}  // namespace answers
