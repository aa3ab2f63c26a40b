// Makes a run's ledger from its objects and its chief's logs.
#pragma once

#include "arena/app/app.h"
#include "arena/listing/records.h"
#include "cluster/client.h"
#include "runs/ledger/life.h"

namespace arena {

// `run` is whole (ReadWhole). Reads the logs of all attempts' chiefs, each at most 64 MiB; where
// they show no steps, the logs of the last instance, which prints steps for some trainers. For a
// sweep, reads the times of its trials instead. What cannot be read is left out: then less is
// known.
runs::Life ReadLife(cluster::Client& client, const Context& context, const RunRecord& run);

}  // namespace arena
