// For tests: a StoreServer with a thread and a loop of its own, so that it answers while its owner
// is busy.
#pragma once

#include <cstdint>
#include <functional>
#include <latch>
#include <memory>
#include <thread>
#include <utility>

#include "base/block_signals.h"
#include "base/clock.h"
#include "base/result.h"
#include "process/event_loop.h"
#include "rendezvous/store/server.h"

namespace rendezvous::testing {

// Callable from any thread, by one at a time.
class StoreThread {
 public:
  // Bound, listening and serving when it returns; errors as StoreServer::Listen.
  static base::Result<std::unique_ptr<StoreThread>> Start(base::Clock& clock,
                                                          const StoreOptions& options) {
    std::unique_ptr<StoreThread> store(new StoreThread());
    TRY_ASSIGN(store->loop_, process::EventLoop::Create(clock));
    TRY_ASSIGN(store->server_, StoreServer::Listen(*store->loop_, clock, options));
    store->port_ = store->server_->port();
    const base::BlockSignals in_the_thread;
    store->thread_ = std::thread([loop = store->loop_.get()] { (void)loop->Run(); });
    return store;
  }

  // Closes every connection and joins the thread.
  ~StoreThread() {
    if (thread_.joinable()) {
      loop_->Stop();
      thread_.join();
    }
    server_.reset();
  }

  uint16_t port() const { return port_; }

  // Blocks until the thread has answered: well under a millisecond unless there are many clients.
  StoreSnapshot Snapshot() {
    StoreSnapshot snapshot;
    RunInLoop([&] { snapshot = server_->Snapshot(); });
    return snapshot;
  }

  // Like StoreServer::Reset; complete when it returns.
  void Reset() {
    RunInLoop([this] { server_->Reset(); });
  }

  void StopListening() {
    RunInLoop([this] { server_->StopListening(); });
  }

 private:
  StoreThread() = default;

  void RunInLoop(const std::function<void()>& function) {
    std::latch done(1);
    loop_->Post([&] {
      function();
      done.count_down();
    });
    done.wait();
  }

  std::unique_ptr<process::EventLoop> loop_;
  std::unique_ptr<StoreServer> server_;
  uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace rendezvous::testing
