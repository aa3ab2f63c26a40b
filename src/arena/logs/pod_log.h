// What there is of one pod's log, without waiting for more.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/client.h"
#include "text/json.h"

namespace arena {

// Reads the log to its end, or until `most` bytes have come. A stream that breaks counts as its
// end. Nullopt if there is no log to read.
std::optional<std::string> ReadPodLog(cluster::Client& client, const text::Json& pod,
                                      const cluster::LogOptions& options, size_t most);

// The same piece by piece, as they come; false if there is no log to read.
bool ReadPodLog(cluster::Client& client, const text::Json& pod, const cluster::LogOptions& options,
                size_t most, const std::function<void(std::string_view bytes)>& take);

}  // namespace arena
