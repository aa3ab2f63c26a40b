// The names that torch gives to its keys in a store.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rendezvous {

// What a key is for. Keys of one meeting (a barrier, the making of one process group) have the
// same `meeting`.
struct StoreKeyName {
  enum class Kind {
    kOther,        // a user's, or one that this table does not know
    kFullMesh,     // gloo: each member of a group writes its address and waits for the others'
    kFirstTells,   // NCCL and others: the group's first member writes, the others wait
    kCounter,      // a store based barrier's counter
    kLastArrived,  // the key that the last one to arrive at a store based barrier sets
  };
  Kind kind = Kind::kOther;
  std::string meeting;
  std::string group;              // empty: the default group
  std::optional<int> group_rank;  // kFullMesh
};

// `is_polled`: waited for by asking again and again, as torch up to 2.0 does in its barriers.
StoreKeyName ParseStoreKey(std::string_view key, bool is_polled = false);

}  // namespace rendezvous
