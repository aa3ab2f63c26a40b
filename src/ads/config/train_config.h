// TrainConfig: the contents of a `kind: distributed` YAML (compat/opctl.md 3.1). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ads/yaml/ordered_env.h"
#include "ads/yaml/value.h"
#include "base/environment.h"
#include "base/result.h"

namespace ads {

// cluster.spec.main, .worker or .ps.
struct RoleConfig {
  std::optional<std::string> name;
  int64_t replicas = 1;
  OrderedEnv env;
  std::optional<std::string> start_args;  // startOptions, joined; nullopt without any
};

struct CertificateConfig {
  std::string ca_id, ca_location;
  std::string cert_id, cert_location, key_location;
};

// spec.runtime. Texts are what str() prints; "" for absent values.
struct RuntimeConfig {
  std::string type;  // "", git or remote; or another, which only images of the user's know
  std::optional<std::string> entry_point;
  std::string args, kwargs;
  OrderedEnv env;
  std::string uri, branch, commit, git_secret_id, code_dir, python_path;

  bool IsKnown() const { return type.empty() || type == "git" || type == "remote"; }
};

struct TrainConfig {
  std::string path;  // of the file, for messages
  // spec.infrastructure.spec with camelCase keys, including unknown ones. Its displayName is the
  // job's name: spec.cluster.spec.name, if set.
  PyValue infrastructure;
  std::string cluster_type;  // PYTORCH, DASK, ...
  // As written; "@image" means that of ./config.ini.
  std::string image;
  std::optional<std::string> work_dir;
  std::string ephemeral = "None";  // True, False or None
  OrderedEnv env;
  std::string start_args;
  RoleConfig main;
  std::optional<RoleConfig> worker, ps;
  std::optional<CertificateConfig> certificate;
  RuntimeConfig runtime;

  std::vector<std::string> warnings;  // for stderr

  // The value in infrastructure as text; "" when absent or null.
  std::string Infrastructure(std::string_view key) const;
};

struct TrainReadOptions {
  bool is_strict = true;  // an unknown key is an error
};

// `path` is for messages. kInvalidArgument with one line: path, line, key, and what to do.
base::Result<TrainConfig> ReadTrainConfig(std::string_view text, const std::string& path,
                                          const TrainReadOptions& options);
// The same for a parsed document.
base::Result<TrainConfig> ReadTrainConfig(const PyValue& document, const std::string& path,
                                          const TrainReadOptions& options);

// kInvalidArgument lists the values that are still placeholders of the documentation (<...> or
// oci.xxxx.), each as "spec...key: value (line n)". A service on this machine, which a test set up,
// may know them: they are permitted if the environment names one.
base::Status CheckPlaceholders(const TrainConfig& config, const base::Environment& environment);

}  // namespace ads
