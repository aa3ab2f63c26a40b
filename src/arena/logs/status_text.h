// The status line of a followed job. Pure.
#pragma once

#include <string>

#include "base/clock.h"

namespace arena {

struct FollowedJob {
  int up = 0, ranks = 0;
  std::string reason;        // why it waits, or which rank stalls it; "" for none
  base::Duration elapsed{};  // since it began; while it waits, since it is followed
  base::Duration quiet{};    // since its last output
};

// "2 of 2 ranks up, 1m03s, quiet for 12s"
std::string StatusText(const FollowedJob& job);

}  // namespace arena
