// How objects go: grace for pods, finalizers, and what goes with them (dependants by
// ownerReference, a namespace's content). All of it runs inside the store's write transaction, so
// that an owner and its dependants go together.
//
//   DELETE --+-- pod on a node, unfinished, grace > 0 --> marked: deletionTimestamp; the node agent
//            |                                            ends it and deletes again with grace 0
//            +-- finalizers left -----------------------> marked; removed with the last finalizer
//            +-- else -----------------------------------> removed --> dependants deleted
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "local/server/routing/api_error.h"
#include "local/server/routing/rest_request.h"
#include "local/store/object.h"

namespace local::server {

enum class Propagation { kBackground, kForeground, kOrphan };

struct DeleteOptions {
  std::string uid;               // precondition; "" is none
  std::string resource_version;  // precondition; "" is none
  std::optional<int64_t> grace_period_seconds;
  Propagation propagation = Propagation::kBackground;
};

// From the body (DeleteOptions), else the query.
Answer<DeleteOptions> ParseDeleteOptions(const RestRequest& request, const net::HttpRequest& http);

// Whether the preconditions hold.
Check CheckPreconditions(const api::Resource& resource, const text::Json& object,
                         const DeleteOptions& options);

// What deleting `current` comes to.
base::Result<store::Next> Delete(store::View& view, store::Record current,
                                 const DeleteOptions& options, base::Time now);

// Removes `current` at once, and deletes or orphans what it owns.
base::Result<store::Next> Remove(store::View& view, store::Record current, Propagation propagation,
                                 base::Time now);

// A new object goes again when all of its owners are gone, or one waits for the last of what it
// owns to go: the mutation that sees to it.
base::Result<std::vector<store::Mutation>> CollectIfOrphaned(store::View& view,
                                                             const store::Key& key,
                                                             const text::Json& object,
                                                             base::Time now);

}  // namespace local::server
