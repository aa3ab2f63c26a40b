// The texts of --rdzv-conf and --rdzv-endpoint (compat/torchrun.md 4, cases 82 and 83).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace launch {

// "k=v,k=v": blanks around each are removed, a value may contain '='. kInvalidArgument names the
// option when a key or value is missing.
base::Result<std::map<std::string, std::string>> ParseRendezvousConf(std::string_view text);

// The settings that the agents of several nodes use; other keys are torchrun's, and have no effect
// here.
struct RendezvousConf {
  std::string token;
  std::optional<bool> is_host;
  // nullopt: the default of rendezvous::RendezvousConfig.
  std::optional<base::Duration> join_timeout;  // or timeout, its name for static
  std::optional<base::Duration> last_call_timeout;
  std::optional<base::Duration> keep_alive_interval;
  // Or the result of keep_alive_interval and keep_alive_max_attempt.
  std::optional<base::Duration> heartbeat_timeout;
  std::optional<base::Duration> stop_timeout;
};

// kInvalidArgument for a time that is not a number of seconds above 0, and for an is_host that is
// not a boolean.
base::Result<RendezvousConf> ReadRendezvousConf(const std::map<std::string, std::string>& values);

// The token of nodes whose --rdzv-conf has none; set in muster's own pods.
inline constexpr const char* kTokenVariable = "MUSTER_RDZV_TOKEN";

struct HostPort {
  std::string host;  // without brackets
  int port = 0;
};

// "host", "host:port", "[v6]:port"; "": localhost. kInvalidArgument for a malformed host or a port
// outside of 0 to 65535.
base::Result<HostPort> ParseHostPort(std::string_view text, int default_port);

}  // namespace launch
