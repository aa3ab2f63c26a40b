// Principal: who signs requests, with what key, for how long (compat/opctl.md 5.3).
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

// When a session token (a JWT) runs out: its `exp`. Pure. Nullopt when it cannot be read.
std::optional<base::Time> TokenExpiry(std::string_view token);

// Thread safe.
class Principal {
 public:
  struct Credential {
    std::string key_id;  // "<tenancy>/<user>/<fingerprint>" or "ST$<token>"
    std::shared_ptr<const PrivateKey> key;
    std::optional<base::Time> expires;
  };
  // How it came about, for the user: what to look at after a 401.
  struct Origin {
    std::string region;
    std::string advice;   // "check user, tenancy and fingerprint of profile X in P"
    std::string renewal;  // of a token that has expired: how a new one is had
  };
  using Loader = std::function<base::Result<Credential>()>;

  Principal(Origin origin, Loader load, base::Clock& clock)
      : origin_(std::move(origin)), load_(std::move(load)), clock_(clock) {}

  const Origin& origin() const { return origin_; }

  // Reads files at first and when the token has run out. kUnauthenticated when that which was read
  // has run out as well.
  base::Result<Credential> Show();
  // That credential was refused (401): whether there is another one by now.
  bool Refused(const std::string& key_id);

 private:
  const Origin origin_;
  const Loader load_;
  base::Clock& clock_;
  std::mutex mutex_;
  std::optional<Credential> credential_;
};

// A decided login: api_key and security_token read a profile, resource_principal the environment
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
