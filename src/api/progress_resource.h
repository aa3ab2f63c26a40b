// The progress of running jobs, as a kind of the embedded cluster's own that can only be listed and
// watched (local/daemon/progress/progress_news.h). It is not among AllResources.
#pragma once

#include "api/resources.h"

namespace api {

inline constinit const Resource kProgress{"muster.dev", "v1",  "progress", "progress",
                                          "Progress",   false, false};

}  // namespace api
