// The MLflow model registry, as far as submit needs it: --model-name.
#pragma once

#include <cstdint>
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
// MLFLOW_TRACKING_URI names (basic authentication with MLFLOW_TRACKING_USERNAME and
// MLFLOW_TRACKING_PASSWORD). Returns the version, as "3". Blocks for some ten seconds at most.
// Errors have the registry's own words.
base::Result<std::string> RegisterModelVersion(const base::Environment& environment,
                                               const ModelVersion& version);

// Where a registry is; of its parts for the tests.
struct RegistryAddress {
  std::string host;
  uint16_t port = 80;
  std::string path;         // "" or "/mlflow": before /api/2.0/...
  std::string credentials;  // "user:password" of the address itself, "" when it has none
};
base::Result<RegistryAddress> ParseTrackingUri(std::string_view uri);

}  // namespace arena
