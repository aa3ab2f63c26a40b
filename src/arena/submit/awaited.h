// The jobs of --wait-for, as they stand when another is submitted.
#pragma once

#include <vector>

#include "api/job/wait_for.h"
#include "arena/app/app.h"
#include "arena/submit/options.h"
#include "cluster/client.h"

namespace arena {

// Those of `flags.wait_for` that have not succeeded yet, each once. kInvalidArgument when one has
// failed; kNotFound when there is none of that name, now or remembered.
base::Result<std::vector<api::AwaitedJob>> FindAwaited(cluster::Client& client,
                                                       const Context& context,
                                                       const SubmitFlags& flags);

}  // namespace arena
