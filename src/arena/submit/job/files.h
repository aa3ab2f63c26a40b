// Reads files with secrets for submit. Errors never contain their contents.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "base/result.h"

namespace arena {

// The content of the file that `flag` names; ~/ is the home folder. Adds a warning if others may
// read it.
base::Result<std::string> ReadSecretFile(std::string_view flag, const std::string& typed,
                                         const base::Environment& environment,
                                         std::vector<std::string>& warnings);

// Docker's --env-file as --env values: `NAME=VALUE` lines, with the value unchanged; `NAME` takes
// the caller's own value if there is one; # comments. An error names the line.
base::Result<std::vector<std::string>> ParseEnvFile(std::string_view text,
                                                    const base::Environment& environment);

struct GitCredentials {
  std::string user;  // "" if the file has none
  std::string password;
};

// From `username=` and `password=` lines, as git's credential helpers write them, or from the line
// in git's store format (https://user:password@host) for `source`, an address over http.
base::Result<GitCredentials> ParseGitCredentials(std::string_view text, std::string_view source);

}  // namespace arena
