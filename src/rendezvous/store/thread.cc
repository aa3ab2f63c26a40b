#include "rendezvous/store/thread.h"

#include <pthread.h>

#include <latch>
#include <utility>

#include "base/block_signals.h"

namespace rendezvous {

base::Result<std::unique_ptr<StoreThread>> StoreThread::Start(base::Clock& clock,
                                                              const StoreOptions& options) {
  TRY_ASSIGN(Listener listener, Listener::Bind(options.address, options.port, options.reach));
  return Start(clock, std::move(listener), options);
}

base::Result<std::unique_ptr<StoreThread>> StoreThread::Start(base::Clock& clock, Listener listener,
                                                              const StoreOptions& options) {
  std::unique_ptr<StoreThread> store(new StoreThread());
  TRY_ASSIGN(store->loop_, process::EventLoop::Create(clock));
  TRY_ASSIGN(store->server_,
             StoreServer::Serve(*store->loop_, clock, std::move(listener), options));
  store->port_ = store->server_->port();
  const base::BlockSignals in_the_thread;
  store->thread_ = std::thread([loop = store->loop_.get()] {
    ::pthread_setname_np(::pthread_self(), "store");
    (void)loop->Run();
  });
  return store;
}

StoreThread::~StoreThread() {
  if (thread_.joinable()) {
    loop_->Stop();
    thread_.join();
  }
  server_.reset();
}

void StoreThread::RunInLoop(const std::function<void()>& function) {
  std::latch done(1);
  loop_->Post([&] {
    function();
    done.count_down();
  });
  done.wait();
}

StoreSnapshot StoreThread::Snapshot() {
  StoreSnapshot snapshot;
  RunInLoop([&] { snapshot = server_->Snapshot(); });
  return snapshot;
}

void StoreThread::Reset() {
  RunInLoop([&] { server_->Reset(); });
}

}  // namespace rendezvous
