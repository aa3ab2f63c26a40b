// One job on the screen of `watch`: its ranks, a curve, its log. Pure.
#pragma once

#include <string_view>

#include "base/clock.h"
#include "cli/screen.h"
#include "watch/state.h"

namespace watch {

cli::Style StyleOfState(std::string_view state);

// All but the last row. `state` has a view.
void DrawJob(cli::Screen& screen, State& state, base::Time now);

}  // namespace watch
