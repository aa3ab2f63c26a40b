// Files that submit reads secrets from. What they hold is never said, in errors neither.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "base/result.h"

namespace arena {

// The content of the file that `flag` names; ~/ is the home folder. A warning is added when others
// may read it.
base::Result<std::string> ReadSecretFile(std::string_view flag, const std::string& typed,
                                         const base::Environment& environment,
                                         std::vector<std::string>& warnings);

// Docker's --env-file: `NAME=VALUE` lines, the value as it stands; `NAME` takes the caller's own
// value, if there is one; # comments. As --env takes them. An error names the line.
base::Result<std::vector<std::string>> ParseEnvFile(std::string_view text,
                                                    const base::Environment& environment);

struct GitCredentials {
  std::string user;  // "" when the file has none
  std::string password;
};

// From `username=` and `password=` lines, as git's credential helpers write them, or from the line
// of git's store (https://user:password@host) that is for `source`, an address over http.
base::Result<GitCredentials> ParseGitCredentials(std::string_view text, std::string_view source);

}  // namespace arena
