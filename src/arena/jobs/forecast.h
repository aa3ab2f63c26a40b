// The embedded cluster's forecast of when a job will start (local/daemon/forecaster.h).
#pragma once

#include <cstdint>
#include <string>

#include "arena/app/app.h"
#include "base/clock.h"
#include "cluster/client.h"
#include "text/json.h"

namespace arena {

// A job that does not exist yet.
struct WouldBe {
  int64_t gpus = 0;  // per replica
  int64_t nodes = 1;
  std::string command;
  std::string priority;  // a class; "" for the default
  int64_t deadline = 0;  // seconds; 0 for none
};

// The cluster's document; of a job that does not exist yet, on Kubernetes only whether it would fit
// (room.h). kNotFound, with a text for the user, where nothing is known.
base::Result<text::Json> AskForecast(cluster::Client& client, const Context& context,
                                     const std::string& namespace_name, const std::string& name);
base::Result<text::Json> AskForecast(cluster::Client& client, const Context& context,
                                     const WouldBe& job);

// One line for `get`: "about 14:05 (in 12m), by 14:20 in nine of ten cases"; "" if unknown. Pure.
std::string ShortForecast(const text::Json& forecast, base::Time now);

// The same, and the error of earlier forecasts; also that its deadline ends it before it starts.
std::string StartsLine(const text::Json& forecast, base::Time now);

// Lines, each with a newline: whether it fits, when it starts, what has to end for it, and the
// error of earlier forecasts. Pure.
std::string RenderForecast(const text::Json& forecast, base::Time now);

}  // namespace arena
