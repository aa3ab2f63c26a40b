// What there is of one pod's log, without waiting for more.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/client.h"
#include "text/json.h"

namespace arena {

// The container in which the pod's training runs; "" if the pod has only one container, which need
// not be named. The API server refuses a request for the log of several.
std::string ContainerOfLog(const text::Json& pod);

// Reads the log to its end, or until `most` bytes have come. A stream that breaks counts as its
// end. Without a container in `options`, reads that of the training. An error if there is no log to
// read.
base::Result<std::string> ReadPodLog(cluster::Client& client, const text::Json& pod,
                                     const cluster::LogOptions& options, size_t most);

// The same piece by piece, as they come.
base::Status ReadPodLog(cluster::Client& client, const text::Json& pod,
                        const cluster::LogOptions& options, size_t most,
                        const std::function<void(std::string_view bytes)>& take);

}  // namespace arena
