// Deletion of objects: grace periods of pods, finalizers, and cascading (dependants by
// ownerReference, the contents of a namespace). All of it runs inside the store's write
// transaction, so that an owner and its dependants are deleted together.
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
#include "local/server/request/api_error.h"
#include "local/server/request/rest_request.h"
#include "local/store/object.h"

namespace local::server {

enum class Propagation { kBackground, kForeground, kOrphan };

struct DeleteOptions {
  std::string uid;               // precondition; "": none
  std::string resource_version;  // precondition; "": none
  std::optional<int64_t> grace_period_seconds;
  Propagation propagation = Propagation::kBackground;
  bool is_dry_run = false;  // as the body says; the query may say it too
};

// From the body (DeleteOptions), otherwise from the query.
Answer<DeleteOptions> ParseDeleteOptions(const RestRequest& request, const net::HttpRequest& http);

// Whether the preconditions hold.
Check CheckPreconditions(const api::Resource& resource, const text::Json& object,
                         const DeleteOptions& options);

// How the deletion of `current` begins: marks or removes it.
base::Result<store::Next> Delete(store::View& view, store::Record current,
                                 const DeleteOptions& options, base::Time now);

// Removes `current` at once, and deletes or orphans its dependants.
base::Result<store::Next> Remove(store::View& view, store::Record current, Propagation propagation,
                                 base::Time now);

// For a new object whose owners are all gone, or one of whose owners waits for its last dependent
// to go: the mutations that delete it again.
base::Result<std::vector<store::Mutation>> CollectIfOrphaned(store::View& view,
                                                             const store::Key& key,
                                                             const text::Json& object,
                                                             base::Time now);

}  // namespace local::server
