// StoreThread: a StoreServer with a thread and a loop of its own, so that it answers while whoever
// owns it is busy.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

#include "base/clock.h"
#include "base/result.h"
#include "process/event_loop.h"
#include "rendezvous/store/server.h"

namespace rendezvous {

// Any thread, one at a time.
class StoreThread {
 public:
  // Bound, listening and served when it returns; errors as StoreServer::Listen.
  static base::Result<std::unique_ptr<StoreThread>> Start(base::Clock& clock,
                                                          const StoreOptions& options);
  // Serves a listener that was bound before.
  static base::Result<std::unique_ptr<StoreThread>> Start(base::Clock& clock, Listener listener,
                                                          const StoreOptions& options);
  // Closes every connection and joins the thread.
  ~StoreThread();

  uint16_t port() const { return port_; }
  // Blocks until the thread has answered: well under a millisecond unless there are many clients.
  StoreSnapshot Snapshot();
  // As StoreServer::Reset; done when it returns.
  void Reset();

 private:
  StoreThread() = default;
  void RunInLoop(const std::function<void()>& function);

  std::unique_ptr<process::EventLoop> loop_;
  std::unique_ptr<StoreServer> server_;
  uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace rendezvous
