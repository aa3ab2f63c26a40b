#include "rendezvous/nodes/rendezvous_server.h"

#include <pthread.h>

#include <latch>
#include <utility>

#include "base/block_signals.h"

namespace rendezvous {
namespace {

constexpr std::chrono::seconds kFarewell{2};

}  // namespace

base::Result<std::unique_ptr<RendezvousServer>> RendezvousServer::Start(base::Clock& clock,
                                                                        Listener listener,
                                                                        AuthorityConfig config) {
  std::unique_ptr<RendezvousServer> server(new RendezvousServer());
  RendezvousServer* const raw = server.get();
  server->port_ = listener.port();
  config.store_port = server->port_;
  TRY_ASSIGN(server->loop_, process::EventLoop::Create(clock));
  StoreOptions options;
  options.other_first_byte = kAgentMagic.front();
  options.on_other = [raw](base::Fd fd, const Endpoint& peer, std::string_view received) {
    raw->authority_->Adopt(std::move(fd), peer, received);
  };
  options.on_asks = [raw](const Endpoint& client, bool is_torchrun) {
    raw->loop_->Post([raw, address = client.address, is_torchrun] {
      raw->authority_->NoteStoreClient(address, is_torchrun);
    });
  };
  options.on_exhausted = [raw] {
    raw->loop_->Post([raw] { raw->authority_->Announce(NoDescriptorLeft()); });
  };
  TRY_ASSIGN(server->store_,
             StoreServer::Serve(*server->loop_, clock, std::move(listener), options));
  server->authority_ = std::make_unique<AuthorityServer>(*server->loop_, clock, std::move(config),
                                                         [raw] { raw->store_->Reset(); });
  const base::BlockSignals in_the_thread;
  server->thread_ = std::thread([loop = server->loop_.get()] {
    ::pthread_setname_np(::pthread_self(), "rendezvous");
    (void)loop->Run();
  });
  return server;
}

RendezvousServer::~RendezvousServer() {
  if (!thread_.joinable()) return;
  loop_->Post([this] {
    loop_->After(kFarewell, [this] { loop_->Stop(); });
    authority_->WhenAlone([this] { loop_->Stop(); });
  });
  thread_.join();
  store_.reset();
  authority_.reset();
}

void RendezvousServer::RunInLoop(const std::function<void()>& function) {
  std::latch done(1);
  loop_->Post([&] {
    function();
    done.count_down();
  });
  done.wait();
}

void RendezvousServer::StopListening() {
  loop_->Post([this] { store_->StopListening(); });
}

StoreSnapshot RendezvousServer::Snapshot() {
  StoreSnapshot snapshot;
  RunInLoop([&] { snapshot = store_->Snapshot(); });
  return snapshot;
}

}  // namespace rendezvous
