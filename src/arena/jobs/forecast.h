// When a job will start, as the embedded cluster foretells it (local/daemon/forecaster.h).
#pragma once

#include <cstdint>
#include <string>

#include "arena/app/app.h"
#include "base/clock.h"
#include "cluster/client.h"
#include "text/json.h"

namespace arena {

// A job that is not there yet.
struct WouldBe {
  int64_t gpus = 0;  // of each replica
  int64_t nodes = 1;
  std::string command;
  std::string priority;  // a class; "" is the default's
  int64_t deadline = 0;  // seconds; 0 is none
};

// The cluster's document. kNotFound, with words for the user, on clusters that foretell nothing.
base::Result<text::Json> AskForecast(cluster::Client& client, const Context& context,
                                     const std::string& namespace_name, const std::string& name);
base::Result<text::Json> AskForecast(cluster::Client& client, const Context& context,
                                     const WouldBe& job);

// One line for `get`: "about 14:05 (in 12m), by 14:20 in nine of ten cases"; "" when nothing can be
// said. Pure.
std::string ShortForecast(const text::Json& forecast, base::Time now);

// The same, and how far off such forecasts were.
std::string StartsLine(const text::Json& forecast, base::Time now);

// Lines that end in a line break: whether it fits, when it starts, what has to end for it, and how
// far off such forecasts were. Pure.
std::string RenderForecast(const text::Json& forecast, base::Time now);

}  // namespace arena
