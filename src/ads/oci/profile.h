// Profiles of ~/.oci/config (compat/opctl.md 5.3).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ads/oci/secret.h"
#include "base/environment.h"
#include "base/result.h"

namespace ads::oci {

// One profile, including what it inherits from [DEFAULT]. Paths are absolute.
struct Profile {
  std::string path, name;  // of the file; of the profile
  std::string user, tenancy, fingerprint, key_file, region;
  std::string security_token_file;
  Secret pass_phrase;
};

// What the profile is used for, which determines the required keys.
enum class ProfileUse { kApiKey, kSecurityToken };

// Pure. Parses as Python's configparser does: keys in any case, `=` or `:`, continued lines,
// comments with # and ;. kNotFound, `ProfileNotFound: ...`; kInvalidArgument with path and line.
// "~/" in paths means `home`.
base::Result<Profile> ParseProfile(std::string_view text, const std::string& path,
                                   const std::string& name, const std::string& home);

// Pure. kInvalidArgument, with the keys in alphabetic order: `InvalidConfig: {'fingerprint':
// 'malformed', 'user': 'missing'} in profile ...`.
base::Status CheckProfile(const Profile& profile, ProfileUse use);

// Reads the profile, takes a missing region from OCI_REGION, and checks it. kNotFound,
// `ConfigFileNotFound: ...`.
base::Result<Profile> ReadProfile(const std::string& path, const std::string& name, ProfileUse use,
                                  const base::Environment& environment);

// Whether a file has a profile of that name, valid or not.
bool HasProfile(const std::string& path, const std::string& name);

}  // namespace ads::oci
