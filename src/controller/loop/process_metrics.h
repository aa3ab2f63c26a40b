// What the kernel knows of this process, under the names of Prometheus' client libraries.
#pragma once

#include <string>

namespace controller {

// Metrics in Prometheus' text format; what cannot be read is left out.
std::string ProcessMetrics();

}  // namespace controller
