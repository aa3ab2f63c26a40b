// muster.yaml: defaults of `run`'s flags, beside the code.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/flags.h"

namespace arena {

inline constexpr const char* kDefaultsFile = "muster.yaml";

// Sets the flags that the command line has not set from `folder`/muster.yaml, if it exists. Its
// keys are names of flags (`nodes: 2`). A list sets a repeatable flag once for each item, a mapping
// once for each KEY=VALUE. An error names the file and the key, and suggests the nearest known key.
struct Defaults {
  std::string path;               // of the file
  std::vector<std::string> keys;  // that set a flag

  // The same, with the file's name before an error that names one of these flags.
  base::Status Name(base::Status refused) const;
};
base::Result<Defaults> ReadDefaults(const std::string& folder, cli::FlagSet& flags);

}  // namespace arena
