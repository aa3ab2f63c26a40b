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

// One profile with what it inherits of [DEFAULT]. Paths are absolute.
struct Profile {
  std::string path, name;  // of the file; of the profile
  std::string user, tenancy, fingerprint, key_file, region;
  std::string security_token_file;
  Secret pass_phrase;
};

// What a profile must hold.
enum class ProfileUse { kApiKey, kSecurityToken };

// Pure. As Python's configparser reads it: keys in any case, `=` or `:`, continued lines, comments
// with # and ;. kNotFound, `ProfileNotFound: ...`; kInvalidArgument with path and line. "~/" in
// paths is `home`.
base::Result<Profile> ParseProfile(std::string_view text, const std::string& path,
                                   const std::string& name, const std::string& home);

// Pure. kInvalidArgument: `InvalidConfig: {'user': 'missing', 'fingerprint': 'malformed'} in
// profile
// ...` with the keys in alphabetic order.
base::Status CheckProfile(const Profile& profile, ProfileUse use);

// Reads, takes a missing region from OCI_REGION, checks. kNotFound, `ConfigFileNotFound: ...`.
base::Result<Profile> ReadProfile(const std::string& path, const std::string& name, ProfileUse use,
                                  const base::Environment& environment);

// Whether a file has a profile of that name; whole or not.
bool HasProfile(const std::string& path, const std::string& name);

}  // namespace ads::oci
