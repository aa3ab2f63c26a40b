// The MLflow model registry, as far as submit needs it: --model-name.
#pragma once

#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/result.h"

namespace arena {

struct ModelVersion {
  std::string name;
  std::string source;
  std::string description;
};

// Registers the model unless it is registered already, and a version of it with the registry that
// MLFLOW_TRACKING_URI names, with MLflow's other variables: _USERNAME and _PASSWORD, _TOKEN,
// _SERVER_CERT_PATH, _INSECURE_TLS. Returns the version, as "3". Blocks for some ten seconds at
// most. Errors have the registry's own words.
base::Result<std::string> RegisterModelVersion(const base::Environment& environment,
                                               const ModelVersion& version);

}  // namespace arena
