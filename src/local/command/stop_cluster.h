// `muster down`: ends what runs, then the daemon.
#pragma once

#include <functional>

#include "base/clock.h"
#include "base/result.h"
#include "cluster/client.h"

namespace local::command {

// kInvalidArgument, without stopping anything, while jobs run and `force` is false. With `force`
// the jobs are ended first, as Failed; `stop` is called even when they do not end or the cluster
// does not answer, and the error then says so.
base::Status StopCluster(cluster::Client& client, base::Clock& clock, bool force,
                         const std::function<base::Status()>& stop);

}  // namespace local::command
