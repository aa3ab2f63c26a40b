// Packs everything about a job for a colleague who investigates it (explain --bundle).
#pragma once

#include <string>

#include "arena/app/app.h"
#include "arena/listing/records.h"
#include "arena/logs/evidence.h"
#include "cluster/client.h"

namespace arena {

// Writes a .tar.gz at `path`, readable by its owner only: the verdict, the job and its pods as
// YAML, their warnings, and the ends of all logs, with secrets masked (mask.h). kAlreadyExists if
// `path` exists. `verdict` is its JSON, `screen` its text.
base::Status WriteBundle(cluster::Client& client, const Context& context, const RunRecord& run,
                         const answers::Evidence& evidence, const text::Json& verdict,
                         const std::string& screen, const std::string& path);

}  // namespace arena
