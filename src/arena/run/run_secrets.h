// `run --secret`: variables from secrets.
#pragma once

#include <string>
#include <vector>

#include "arena/app/app.h"
#include "base/result.h"
#include "cluster/client.h"

namespace arena {

// NAME, NAME:KEY or NAME:KEY=VARIABLE.
struct RunSecret {
  std::string name;
  std::string key;       // "": all of its keys
  std::string variable;  // the variable that gets it

  // In the syntax of --env-from-secret: NAME, or VARIABLE=NAME:KEY.
  std::string Variables() const;
};

// kInvalidArgument for an empty key, and for a variable that no shell can name.
base::Result<std::vector<RunSecret>> ReadRunSecrets(const std::vector<std::string>& texts);

// On the embedded cluster: kNotFound for a secret or key that does not exist. Only the user creates
// secrets there, so the job would wait forever.
base::Status CheckRunSecrets(cluster::Client& client, const Context& context,
                             const std::vector<std::string>& texts);

}  // namespace arena
