#include "rendezvous/nodes/rendezvous_server.h"

#include <pthread.h>

#include <latch>
#include <utility>

#include "base/block_signals.h"

namespace rendezvous {
namespace {

constexpr std::chrono::seconds kFarewell{2};

}  // namespace

base::Result<std::unique_ptr<RendezvousHost>> RendezvousHost::Start(base::Clock& clock,
                                                                    Listener listener,
                                                                    AuthorityConfig config) {
  std::unique_ptr<RendezvousHost> host(new RendezvousHost());
  RendezvousHost* const raw = host.get();
  host->port_ = listener.port();
  config.store_port = host->port_;
  TRY_ASSIGN(host->loop_, process::EventLoop::Create(clock));
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
  TRY_ASSIGN(host->store_, StoreServer::Serve(*host->loop_, clock, std::move(listener), options));
  host->authority_ = std::make_unique<AuthorityServer>(*host->loop_, clock, std::move(config),
                                                       [raw] { raw->store_->Reset(); });
  const base::BlockSignals in_the_thread;
  host->thread_ = std::thread([loop = host->loop_.get()] {
    ::pthread_setname_np(::pthread_self(), "rendezvous");
    (void)loop->Run();
  });
  return host;
}

RendezvousHost::~RendezvousHost() {
  if (!thread_.joinable()) return;
  loop_->Post([this] {
    loop_->After(kFarewell, [this] { loop_->Stop(); });
    authority_->WhenAlone([this] { loop_->Stop(); });
  });
  thread_.join();
  store_.reset();
  authority_.reset();
}

void RendezvousHost::RunInLoop(const std::function<void()>& function) {
  std::latch done(1);
  loop_->Post([&] {
    function();
    done.count_down();
  });
  done.wait();
}

StoreSnapshot RendezvousHost::Snapshot() {
  StoreSnapshot snapshot;
  RunInLoop([&] { snapshot = store_->Snapshot(); });
  return snapshot;
}

}  // namespace rendezvous
