// RendezvousServer: serves a job's endpoint, that is the workers' store and the authority on one
// port, in a thread of its own.
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "base/clock.h"
#include "base/result.h"
#include "process/event_loop.h"
#include "rendezvous/nodes/authority_server.h"
#include "rendezvous/store/server.h"

namespace rendezvous {

// Callable from any thread, by one at a time.
class RendezvousServer {
 public:
  // Fills in `config.store_port`. The endpoint is served once this returns.
  static base::Result<std::unique_ptr<RendezvousServer>> Start(base::Clock& clock,
                                                               Listener listener,
                                                               AuthorityConfig config);
  // Waits at most two seconds for the other nodes to disconnect.
  ~RendezvousServer();

  uint16_t port() const { return port_; }
  StoreSnapshot Snapshot();
  // Frees the port soon, without waiting for it; nodes and workers that are connected are served
  // on.
  void StopListening();

 private:
  RendezvousServer() = default;
  void RunInLoop(const std::function<void()>& function);

  uint16_t port_ = 0;
  std::unique_ptr<process::EventLoop> loop_;
  std::unique_ptr<AuthorityServer> authority_;
  std::unique_ptr<StoreServer> store_;
  std::thread thread_;
};

}  // namespace rendezvous
