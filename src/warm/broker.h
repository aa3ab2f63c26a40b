// The broker starts resident interpreters outside of pods and connects launchers inside pods to
// them. All pods of a user share these interpreters, so even the first start in a new pod is a
// fork.
//
// It is a child of the daemon and ends with it. Its interpreters end when their last fork has
// ended.
#pragma once

#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "warm/residents.h"

namespace warm {

inline constexpr std::string_view kBrokerName = "muster warm-broker";

// Asks the broker that listens at `path` for a connection to an interpreter. `place` is
// PlaceOutside, and has to equal the broker's. Blocks for milliseconds, at most ten seconds.
base::Result<base::Fd> AskBroker(const std::string& path, const Wish& wish,
                                 const std::string& place);

// `muster warm-broker RUNTIME-DIRECTORY`: serves connections to descriptor 3, a listening Unix
// socket, until it is killed. Processes of other users are not served. Returns the exit code when
// it cannot serve.
int BrokerMain(const std::vector<std::string>& args);

}  // namespace warm
