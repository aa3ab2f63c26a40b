// The jobs of --wait-for, in their state at the submission.
#pragma once

#include <vector>

#include "api/job/wait_for.h"
#include "arena/app/app.h"
#include "arena/submit/job/options.h"
#include "cluster/client.h"

namespace arena {

// The jobs of `flags.wait_for` that have not succeeded yet, each once. kInvalidArgument if one has
// failed; kNotFound if there is neither a job nor a record of that name.
base::Result<std::vector<api::AwaitedJob>> FindAwaited(cluster::Client& client,
                                                       const Context& context,
                                                       const SubmitFlags& flags);

}  // namespace arena
