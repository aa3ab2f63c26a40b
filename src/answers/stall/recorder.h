// PyTorch's flight recorder, as a rank's worker server gives it: which collectives the rank has
// entered, and which of them are done.
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
  std::string sizes;       // of its inputs: "[8, 4]"; "" of one that has none
  std::string dtypes;      // of its inputs: "Float"
  int64_t created_ns = 0;  // when it was entered, since the epoch
};

// What one rank says of one process group.
struct GroupTrace {
  // Numbers of collectives, the first is 1; 0 is none yet. A state for each is not told by all
  // backends: these two are.
  int64_t entered = 0;
  int64_t completed = 0;
  std::map<int64_t, Collective> collectives;  // by number: the last, as many as the recorder keeps
};

// By the group's name, which is the same in all ranks.
using Trace = std::map<std::string, GroupTrace>;

// Nullopt of anything else than a recorder's answer; empty while it has recorded nothing.
std::optional<Trace> ReadTrace(std::string_view json);

// What the traces of ranks say when they are put side by side.
struct Disagreement {
  enum class Kind {
    kMissing,  // `odd` have not entered what `others` are in
    kOrder,    // `odd` call another collective
    kSizes,    // the same with another shape
    kDtypes,
  };
  Kind kind = Kind::kMissing;
  std::string group;
  int64_t number = 0;
  Collective expected;            // of most of `others`
  std::map<int, Collective> odd;  // by rank; of kMissing the last that it has entered
  std::vector<int> others;        // ascending
};

// The earliest of a group of which some rank still waits; a mismatch wins against a rank that is
// missing later on. `traces`: by rank. Nullopt when they agree, or nobody waits.
std::optional<Disagreement> Compare(const std::map<int, Trace>& traces);

// How late a rank comes to the collectives that all members of their groups have entered, after the
// first of them. Of ranks of one machine: it is by their clocks.
struct Lateness {
  int collectives = 0;  // that are looked at
  int last = 0;         // at how many it was the last
  std::chrono::nanoseconds median{};
};

// By rank; of those that share a collective with another.
std::map<int, Lateness> LatenessOf(const std::map<int, Trace>& traces);

// "rank 3", "ranks 0-2, 5": ascending.
std::string NameRanks(const std::vector<int>& ranks);

// Of ranks that will never come together, whatever they wait for. `places`: where each stands.
//   rank 1 calls barrier (train.py:9) where rank 0 calls all_reduce (train.py:12): collective #6
//   differs between ranks
std::string SayMismatch(const Disagreement& found, const std::map<int, std::string>& places);

// "all_reduce #412"
std::string NameOf(const Collective& collective, int64_t number);

}  // namespace answers
