// Session: a login and the services that it can use.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "ads/oci/api.h"
#include "ads/oci/instance_principal.h"
#include "ads/oci/principal.h"
#include "ads/oci/region.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/result.h"

namespace ads::oci {

// Thread safe.
class Session {
 public:
  // Connects by net::CurlClient, except in tests.
  using Connect = ConnectFunction;

  struct Options {
    PrincipalOptions login;
    std::function<void(base::Duration)> pause;  // blocks for that long
    const Breaker* breaker = nullptr;           // must outlive it; null: its waits cannot be broken
    Connect connect = {};
  };
  // Reads the profile; contacts only an instance principal's metadata service. `environment` and
  // `clock` must outlive it.
  static base::Result<std::unique_ptr<Session>> Open(Options options,
                                                     const base::Environment& environment,
                                                     base::Clock& clock);

  // Valid while the session lives.
  base::Result<Api*> At(Service service);
  Principal& principal() { return *principal_; }

 private:
  Session(Options options, const base::Environment& environment, base::Clock& clock,
          std::unique_ptr<Principal> principal)
      : options_(std::move(options)),
        environment_(environment),
        clock_(clock),
        principal_(std::move(principal)) {}

  const Options options_;
  const base::Environment& environment_;
  base::Clock& clock_;
  const std::unique_ptr<Principal> principal_;
  std::mutex mutex_;
  std::map<Service, std::unique_ptr<Api>> apis_;
};

}  // namespace ads::oci
