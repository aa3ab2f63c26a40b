// RendezvousHost: the endpoint of a job, the workers' store and the authority on one port, with a
// thread of its own.
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

// Any thread, one at a time.
class RendezvousHost {
 public:
  // `config.store_port` is filled in here. Served when it returns.
  static base::Result<std::unique_ptr<RendezvousHost>> Start(base::Clock& clock, Listener listener,
                                                             AuthorityConfig config);
  // Waits, two seconds at most, until no other node is connected.
  ~RendezvousHost();

  uint16_t port() const { return port_; }
  StoreSnapshot Snapshot();

 private:
  RendezvousHost() = default;
  void RunInLoop(const std::function<void()>& function);

  uint16_t port_ = 0;
  std::unique_ptr<process::EventLoop> loop_;
  std::unique_ptr<AuthorityServer> authority_;
  std::unique_ptr<StoreServer> store_;
  std::thread thread_;
};

}  // namespace rendezvous
