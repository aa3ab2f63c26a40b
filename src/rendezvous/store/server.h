// StoreServer: a TCPStore server for the workers of one job (docs/formats/tcpstore.md), in an event
// loop that others may share.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "process/event_loop.h"
#include "rendezvous/sockets/listener.h"
#include "rendezvous/store/data.h"

namespace rendezvous {

struct StoreOptions {
  // Numeric; empty: all addresses of the machine, IPv4 and, if available, IPv6.
  std::string address;
  uint16_t port = 0;  // 0: a free one
  Listener::Reach reach = Listener::Reach::kAnywhere;
  StoreLimits limits;
  uint64_t max_bytes = uint64_t{4} << 30;  // limit for all keys, values, waits and watches
  // A client that has this many unread bytes is not served until it has read them ...
  size_t slow_reader_bytes = 1 << 20;
  // ... and one to which WATCH_KEY adds more than this is disconnected.
  size_t max_pending_bytes = 64 << 20;
  // Called in the loop's thread after a client has connected; may be empty.
  std::function<void()> on_client{};
  // Called in the loop's thread, once, when no descriptor is left for another client; may be empty.
  std::function<void()> on_exhausted{};
  // Called in the loop's thread at a client's first request, and when it requests what only
  // torchrun's agents request; may be empty. Must not close connections.
  std::function<void(const Endpoint& client, bool is_torchrun)> on_asks{};
  // A connection that begins with this byte does not belong to a store client: it is handed over,
  // with the bytes read from it. 0: disabled.
  char other_first_byte = 0;
  std::function<void(base::Fd, const Endpoint&, std::string_view received)> on_other;
};

// The message when there is no descriptor left for the store's next client.
std::string NoDescriptorLeft();

// One connection. Torch up to 2.0 opens two for each store object, and the second is silent.
struct StoreClient {
  StoreClientId id = 0;
  Endpoint peer;
  uint32_t nonce = 0;  // of its PING: the client's pid, from torch 2.5 on; otherwise 0
  SteadyTime since;
};

// The state of the store at one moment.
struct StoreSnapshot {
  SteadyTime at;
  std::vector<StoreClient> clients;
  std::vector<StoreData::Key> keys;
  std::vector<StoreData::Waiter> waiters;
};

// Used in the loop's thread only. Borrows loop and clock, which must outlive it.
class StoreServer : private StoreData::Clients {
 public:
  // Bound and listening when it returns: clients may connect before the loop runs. When the port is
  // in use: kUnavailable, naming the holder if it is visible.
  static base::Result<std::unique_ptr<StoreServer>> Listen(process::EventLoop& loop,
                                                           base::Clock& clock,
                                                           const StoreOptions& options);
  // Serves a listener that is bound already.
  static base::Result<std::unique_ptr<StoreServer>> Serve(process::EventLoop& loop,
                                                          base::Clock& clock, Listener listener,
                                                          const StoreOptions& options);
  // Closes every connection.
  ~StoreServer() override;
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

  uint16_t port() const { return listener_.port(); }
  StoreSnapshot Snapshot() const;
  // Frees the port, for another server of it; clients that are connected are served on.
  void StopListening();
  // Removes all keys and closes all connections, so that the next attempt of a job begins with an
  // empty store on the same port (from 2.12 on, torch's keys contain no attempt number).
  void Reset();

 private:
  struct Connection;

  StoreServer(process::EventLoop& loop, base::Clock& clock, Listener listener,
              const StoreOptions& options);
  OutputQueue* OutputOf(StoreClientId client) override;
  base::Status WatchListener();
  void Accept();
  void OnReady(StoreClientId id, uint32_t events);
  bool Read(Connection& connection);
  bool HandOver(Connection& connection, std::string_view received);
  // Processes the buffered input; false: the connection has to be closed.
  bool Carry(Connection& connection, std::string_view input);
  bool Parse(Connection& connection, std::string_view input, size_t& used);
  bool IsBehind(const Connection& connection) const;
  bool Account(size_t before, size_t after);
  bool Flush(Connection& connection);
  void FlushWoken();
  void Rewatch(Connection& connection);
  void Close(StoreClientId id);

  process::EventLoop& loop_;
  base::Clock& clock_;
  Listener listener_;
  StoreOptions options_;
  StoreData data_;
  StoreRequest request_;
  SteadyTime now_;
  std::vector<char> scratch_;
  StoreClientId next_id_ = 1;
  StoreClientId serving_ = 0;
  uint64_t input_bytes_ = 0;  // total size of partly received requests
  bool is_accepting_ = false;
  bool is_listening_ = true;
  bool was_exhausted_ = false;
  std::unordered_map<StoreClientId, std::unique_ptr<Connection>> connections_;
  std::vector<StoreClientId> woken_;
};

}  // namespace rendezvous
