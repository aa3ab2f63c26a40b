// The names of torch's keys in a store.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rendezvous {

// The purpose of a key. Keys of one meeting (a barrier, the creation of one process group) have the
// same `meeting`.
struct StoreKeyName {
  enum class Kind {
    kOther,        // a user's key, or an unknown one
    kFullMesh,     // gloo: each member of a group writes its address and waits for the others'
    kFirstWrites,  // NCCL and others: the group's first member writes, the others wait
    kCounter,      // a store based barrier's counter
    kLastArrived,  // set by the last client that arrives at a store based barrier
  };
  Kind kind = Kind::kOther;
  std::string meeting;
  std::string group;              // empty: the default group
  std::optional<int> group_rank;  // kFullMesh
};

// `is_polled`: clients wait by polling it, as the barriers of torch up to 2.0 do.
StoreKeyName ParseStoreKey(std::string_view key, bool is_polled = false);

}  // namespace rendezvous
