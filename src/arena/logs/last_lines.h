// The end of the log that shows how a run went.
#pragma once

#include <cstdint>
#include <string>

#include "arena/listing/records.h"
#include "cluster/client.h"

namespace arena {

// At most `lines` of the log of what failed first, else of the chief, without progress bars; of
// pods that are gone too, as far as they are remembered. "" where there is none any more.
std::string LastLinesOf(cluster::Client& client, const RunRecord& run, int64_t lines);

}  // namespace arena
