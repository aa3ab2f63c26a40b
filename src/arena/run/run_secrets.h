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
  std::string variable;  // of that key

  // As --env-from-secret has it: NAME, or VARIABLE=NAME:KEY.
  std::string Variables() const;
};

std::vector<RunSecret> ReadRunSecrets(const std::vector<std::string>& texts);

// On this machine, where nothing else makes secrets: kNotFound for a secret or a key that does not
// exist. The job would wait for it in vain.
base::Status CheckRunSecrets(cluster::Client& client, const Context& context,
                             const std::vector<std::string>& texts);

}  // namespace arena
