// Where programs of jobs post their progress (local/daemon/status_server.h), and the tokens that
// permit it. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace local::node {

struct StatusEndpoint {
  std::string address;  // "127.0.0.1:40123"; "": there is none
  std::string key;      // of this cluster alone
};

// "<uid>.<HMAC-SHA256 of the uid>": it needs no list, and outlives the daemon.
std::string StatusToken(std::string_view key, std::string_view job_uid);
// The job of the token; nullopt when it was not made with this key.
std::optional<std::string> JobOfStatusToken(std::string_view key, std::string_view token);

}  // namespace local::node
