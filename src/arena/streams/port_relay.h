// Forwards local TCP connections to the ports of a pod.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "cluster/client.h"

namespace arena {

struct PortPair {
  uint16_t local = 0;  // 0: any free one
  uint16_t remote = 0;
};
// "8080" (the same port here), "8888:5000", ":5000".
base::Result<PortPair> ParsePortPair(std::string_view text);

struct PortListener {
  base::Fd fd;
  std::string address;  // for display: "127.0.0.1:8080"
  uint16_t remote = 0;
};
// Listens at each address for each pair. "localhost" means both loopback addresses, if they exist.
base::Result<std::vector<PortListener>> ListenForPorts(const std::vector<std::string>& addresses,
                                                       const std::vector<PortPair>& pairs);

// Opens a connection to a port of the pod; called from any thread.
using DialPort = std::function<base::Result<std::unique_ptr<cluster::PortStream>>(uint16_t remote)>;

struct PortReports {
  std::function<void(uint16_t remote)> opened;
  std::function<void(uint16_t remote, const base::Error& why)> failed;
};

// Forwards every connection, each on threads of its own; reports are serialized. Returns the reason
// when the pod is gone or refuses permanently. Blocks.
base::Error RelayPorts(const std::vector<PortListener>& listeners, const DialPort& dial,
                       const PortReports& reports);

}  // namespace arena
