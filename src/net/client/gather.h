// When those that move bytes wait a moment, to deal with more at once.
#pragma once

#include <chrono>
#include <cstddef>

namespace net {

// A round of libcurl's looks at every request under way, with a poll(2) for each, whosever bytes
// have come. With so many of them the answers of a moment are read in one round: a third less of
// CPU for a thousand jobs of `muster operator`, and the server, which has the others to work on, is
// not kept waiting. Http2Lane, too, costs more than it saves without.
inline constexpr size_t kManyUnderWay = 12;
inline constexpr std::chrono::milliseconds kMoment{4};

}  // namespace net
