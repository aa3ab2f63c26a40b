// Principal: who signs requests, with which key, and for how long (compat/opctl.md 5.3).
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "ads/oci/private_key.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/result.h"

namespace ads::oci {

// Thread safe.
class Principal {
 public:
  struct Credential {
    std::string key_id;  // "<tenancy>/<user>/<fingerprint>" or "ST$<token>"
    std::shared_ptr<const PrivateKey> key;
    std::optional<base::Time> expires;
  };
  // Where the credential comes from, to tell the user what to check after a 401.
  struct Origin {
    std::string region;
    std::string advice;   // "check user, tenancy and fingerprint of profile X in P"
    std::string renewal;  // for an expired token: how to get a new one
  };
  using Loader = std::function<base::Result<Credential>()>;

  Principal(Origin origin, Loader load, base::Clock& clock)
      : origin_(std::move(origin)), load_(std::move(load)), clock_(clock) {}

  const Origin& origin() const { return origin_; }

  // Reads files at first and when the token has expired. kUnauthenticated when the new one has
  // expired as well.
  base::Result<Credential> Show();
  // The service refused that credential (401): returns whether there is another one now.
  bool Refused(const std::string& key_id);

 private:
  const Origin origin_;
  const Loader load_;
  base::Clock& clock_;
  std::mutex mutex_;
  std::optional<Credential> credential_;
};

// A chosen login: api_key and security_token read a profile, resource_principal the environment
// (version 2.2). Keys are read at the first Show; a profile is checked here.
struct PrincipalOptions {
  std::string auth;
  std::string config_path;  // absolute
  std::string profile;
};
base::Result<std::unique_ptr<Principal>> OpenPrincipal(const PrincipalOptions& options,
                                                       const base::Environment& environment,
                                                       base::Clock& clock);

}  // namespace ads::oci
