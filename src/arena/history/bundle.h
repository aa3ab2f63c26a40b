// Everything that tells of a job, for a colleague who looks into it (explain --bundle).
#pragma once

#include <string>

#include "arena/app/app.h"
#include "arena/jobs/records.h"
#include "arena/logs/evidence.h"
#include "cluster/client.h"

namespace arena {

// A .tar.gz at `path`, readable by its owner alone: the verdict, the job and its pods as YAML,
// their warnings, the ends of all logs; secrets masked (mask.h). kAlreadyExists when something is
// at `path`, which stays as it is. `verdict`: its JSON; `screen`: what is shown of it.
base::Status WriteBundle(cluster::Client& client, const Context& context, const RunRecord& run,
                         const answers::Evidence& evidence, const text::Json& verdict,
                         const std::string& screen, const std::string& path);

}  // namespace arena
