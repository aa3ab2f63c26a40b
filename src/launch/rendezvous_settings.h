// The texts of --rdzv-conf and --rdzv-endpoint (spec/launcher.md 4, cases 82 and 83).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace launch {

// "k=v,k=v": blanks around each are trimmed, a value may hold '='. kInvalidArgument with the
// option's name when a key or value is missing.
base::Result<std::map<std::string, std::string>> ParseRendezvousConf(std::string_view text);

struct HostPort {
  std::string host;  // without brackets
  int port = 0;
};

// "host", "host:port", "[v6]:port"; "" is localhost. kInvalidArgument for a malformed host or a
// port that is not between 0 and 65535.
base::Result<HostPort> ParseHostPort(std::string_view text, int default_port);

}  // namespace launch
