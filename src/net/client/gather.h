// How long the loops that read answers wait, so that they read many in one round.
#pragma once

#include <chrono>
#include <cstddef>

namespace net {

// Each round of libcurl calls poll(2) once for every request under way, even if only one has bytes.
// From this many requests on, the loop waits for kMoment and reads all answers that came in one
// round. That takes a third less CPU for a thousand jobs of `muster operator`, and does not keep
// the server waiting, which has the other requests to work on. Without it Http2Lane costs more than
// it saves.
inline constexpr size_t kManyUnderWay = 12;
inline constexpr std::chrono::milliseconds kMoment{4};

}  // namespace net
