// What the kernel counts for this process, under the names of Prometheus' client libraries.
#pragma once

#include <string>

namespace controller {

// Metrics in Prometheus' text format; leaves out values that cannot be read.
std::string ProcessMetrics();

}  // namespace controller
