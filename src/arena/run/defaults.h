// muster.yaml: defaults of `run`'s flags, beside the code.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/flags.h"

namespace arena {

inline constexpr const char* kDefaultsFile = "muster.yaml";

// Sets the flags of `flags` that the command line has not set as `folder`/muster.yaml says: its
// keys are their names (`nodes: 2`), a list sets a flag that may be repeated once for each item, a
// mapping as KEY=VALUE. Nothing is done where there is no such file. An error names the file and
// the key, and for one that is unknown the nearest that is not.
base::Status ReadDefaults(const std::string& folder, cli::FlagSet& flags);

}  // namespace arena
