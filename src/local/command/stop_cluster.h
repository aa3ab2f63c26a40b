// `muster down`: what runs is ended, then the daemon.
#pragma once

#include <functional>

#include "base/clock.h"
#include "base/result.h"
#include "cluster/client.h"

namespace local::command {

// kInvalidArgument, and nothing is stopped, while jobs run and `force` is false. With it the jobs
// end first, Failed; `stop` is called even when they do not end or the cluster does not answer, and
// then the error says so.
base::Status StopCluster(cluster::Client& client, base::Clock& clock, bool force,
                         const std::function<base::Status()>& stop);

}  // namespace local::command
