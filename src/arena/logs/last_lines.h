// The end of the log that shows how a run went.
#pragma once

#include <cstdint>
#include <string>

#include "arena/listing/records.h"
#include "cluster/client.h"

namespace arena {

// At most `lines` lines, without progress bars, of the log of what failed first, otherwise of the
// chief's or the first pod's; also of pods that are gone, as far as they are remembered. Without
// such a log, the lines that the job itself keeps; "" where it keeps none.
std::string LastLinesOf(cluster::Client& client, const RunRecord& run, int64_t lines);

}  // namespace arena
