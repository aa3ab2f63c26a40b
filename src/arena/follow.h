// Following one instance's log until the instance ends (logs -f).
#pragma once

#include <string>

#include "arena/app.h"
#include "cluster/client.h"

namespace arena {

struct FollowRequest {
  std::string namespace_name;
  std::string job;
  std::string pod_selector;
  std::string instance;         // pod name
  std::string container;        // "" is the training container
  cluster::LogOptions options;  // tail, since, timestamps
};

// Waits for the instance to start, streams its log to `out` line by line through restarts of the
// container and of the server, and returns when the instance has ended or is gone. An instance
// whose training never started because its code could not be fetched: that log instead.
// kUnavailable when the server stays away for half a minute.
base::Status Follow(cluster::Client& client, const Context& context, const FollowRequest& request,
                    cli::Output& out);

}  // namespace arena
