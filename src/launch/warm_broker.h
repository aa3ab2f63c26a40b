// Starts resident interpreters outside of pods, for launchers that are in them: the first start in
// a pod is a fork, too, of an interpreter that other pods of this user have as well.
//
// The daemon's child. It ends with the daemon; its interpreters then, once nothing of theirs runs.
#pragma once

#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "launch/warm_residents.h"

namespace launch {

inline constexpr std::string_view kBrokerName = "muster warm-broker";

// Asks the one that listens at `path` for a connection to an interpreter. `place` is PlaceOutside:
// it has to be the broker's own. Blocks for milliseconds, at most ten seconds.
base::Result<base::Fd> AskBroker(const std::string& path, const WarmWish& wish,
                                 const std::string& place);

// `muster warm-broker RUNTIME-DIRECTORY`: answers who connects to descriptor 3, a Unix socket that
// listens, until it is killed. Processes of other users are not served. The exit code when it
// cannot.
int WarmBrokerMain(const std::vector<std::string>& args);

}  // namespace launch
