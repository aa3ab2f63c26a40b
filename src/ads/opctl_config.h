// The user's configuration: ~/.ads_ops/config.ini and the profiles of ~/.oci/config (spec/ads.md
// 2.6, 5.3).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/environment.h"
#include "base/result.h"

namespace ads {

// Of the command line; "" where a flag was not given.
struct LoginFlags {
  std::string auth;        // api_key, resource_principal, security_token, instance_principal
  std::string oci_config;  // path
  std::string oci_profile;
  std::string ads_config;  // folder
};

// Who calls the service, decided: flag, then ads_config's config.ini, then the built-in.
struct Login {
  std::string auth;
  std::string config_path;  // absolute
  std::string profile;
};

// Reads ~/.ads_ops/config.ini when there is one; opens nothing else.
base::Result<Login> ChooseLogin(const LoginFlags& flags, const base::Environment& environment);

// A profile of an OCI configuration file: user, tenancy, fingerprint, key_file, region,
// pass_phrase, security_token_file. [DEFAULT] gives what the profile leaves out. kNotFound,
// `ConfigFileNotFound: ...` or `ProfileNotFound: Profile 'X' not found in config file P`, with what
// to do.
base::Result<std::map<std::string, std::string>> ReadOciProfile(const std::string& path,
                                                                const std::string& profile);

// "~" and "~/x" by the environment's home; anything else as it stands.
std::string ExpandHome(const std::string& path, const base::Environment& environment);

}  // namespace ads
