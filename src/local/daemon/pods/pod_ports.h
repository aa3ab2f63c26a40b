// Connections to the ports of pods, for the API server's port forwarding.
#pragma once

#include <cstdint>
#include <memory>
#include <thread>

#include "base/result.h"
#include "local/server/backend/port_source.h"

namespace local::daemon {

// One thread for all connections. Thread safe.
class PodPorts : public server::PortSource {
 public:
  static base::Result<std::unique_ptr<PodPorts>> Start();
  // Closes open connections.
  ~PodPorts() override;

  std::shared_ptr<server::OpenPort> Open(uint16_t port,
                                         std::shared_ptr<server::PortSink> sink) override;

 private:
  class Connection;
  struct Core;

  explicit PodPorts(std::shared_ptr<Core> core);

  const std::shared_ptr<Core> core_;
  std::jthread thread_;
};

}  // namespace local::daemon
