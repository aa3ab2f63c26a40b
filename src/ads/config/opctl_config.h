// Chooses the login: flags, ~/.ads_ops/config.ini and the environment (compat/opctl.md 2.6, 5.3).
#pragma once

#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/result.h"

namespace ads {

// From the command line; "" for a flag that was not given.
struct LoginFlags {
  std::string auth;        // api_key, resource_principal, security_token, instance_principal
  std::string oci_config;  // path
  std::string oci_profile;
  std::string ads_config;  // folder
};

// The chosen login: by flag, then ads_config's config.ini, then the environment (OCI_IAM_TYPE,
// OCI_CONFIG_LOCATION, OCI_CONFIG_PROFILE), then the built-in default.
struct Login {
  std::string auth;
  std::string config_path;  // absolute
  std::string profile;
};

// Reads ~/.ads_ops/config.ini if it exists, and no other file.
base::Result<Login> ChooseLogin(const LoginFlags& flags, const base::Environment& environment);

// A value of ml_job_config.ini in the same folder: from the section of the profile or the
// principal, or else from DEFAULT; "" if there is none.
base::Result<std::string> JobDefault(const LoginFlags& flags, const base::Environment& environment,
                                     std::string_view key);
// kInvalidArgument if that section has a flexible shape without its size.
base::Status CheckShapeDefault(const LoginFlags& flags, const base::Environment& environment);

// Replaces "~" in "~" and "~/x" by the environment's home; leaves other paths alone.
std::string ExpandHome(const std::string& path, const base::Environment& environment);

}  // namespace ads
