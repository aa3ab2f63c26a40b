// Draws one job: its ranks, a curve, its log. Pure.
#pragma once

#include <string_view>

#include "base/clock.h"
#include "cli/screen.h"
#include "watch/state.h"

namespace watch {

cli::Style StyleOfState(std::string_view state);

// Draws everything but the last row. `state` must have a view.
void DrawJob(cli::Screen& screen, State& state, base::Time now);

}  // namespace watch
