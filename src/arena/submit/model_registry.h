// A client of the MLflow model registry for --model-name.
#pragma once

#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/result.h"
#include "cluster/client.h"

namespace arena {

struct ModelVersion {
  std::string name;
  std::string source;
  std::string description;
};

// Registers the model, unless it exists, and a version of it at MLFLOW_TRACKING_URI, with MLflow's
// other variables: _USERNAME and _PASSWORD, _TOKEN, _SERVER_CERT_PATH, _INSECURE_TLS. If it is not
// set, at the MLflow among the services of `cluster` (nullptr: not searched), which is logged.
// Returns the version, as "3". Blocks for about ten seconds at most. Errors contain the registry's
// own message.
base::Result<std::string> RegisterModelVersion(const base::Environment& environment,
                                               cluster::Client* cluster,
                                               const ModelVersion& version);

}  // namespace arena
