#include "rendezvous/store/server.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

namespace rendezvous {
namespace {

constexpr size_t kScratchBytes = 256 << 10;
constexpr int kAcceptsPerWake = 256;
// How many reads one connection gets before the others have their turn.
constexpr int kReadsPerWake = 8;
// The keys by which torchrun's agents meet
// (torch/distributed/elastic/rendezvous/c10d_rendezvous_backend.py), and the keys that its static
// agents exchange first (torch/distributed/elastic/agent/server/api.py).
constexpr std::string_view kTorchrunKey = "torch.rendezvous.";
constexpr std::string_view kStaticTorchrunKey = "torchelastic/role_info";
// A client that polled within this time still waits (torch up to 2.0 polls every 10 ms).
constexpr std::chrono::seconds kPollIsOver{1};

bool IsOfTorchrun(const StoreRequest& request) {
  const auto has = [&](std::string_view key) {
    return request.key.find(key) != std::string_view::npos;
  };
  return (request.op == StoreOp::kCompareSet && has(kTorchrunKey)) ||
         (request.op == StoreOp::kSet && has(kStaticTorchrunKey));
}

}  // namespace

std::string NoDescriptorLeft() {
  return "the workers' store cannot accept more connections: " + DescriptorLimitText();
}

struct StoreServer::Connection {
  Connection(StoreClient who, base::Fd socket, const StoreLimits& limits)
      : client(std::move(who)), fd(std::move(socket)), parser(limits) {}

  StoreClient client;
  base::Fd fd;
  StoreParser parser;
  std::string input;  // the beginning of an incomplete request
  OutputQueue output;
  uint32_t events = EPOLLIN;
  bool has_asked = false;
  bool is_woken = false;
  bool has_ended = false;  // the peer sends no more
};

base::Result<std::unique_ptr<StoreServer>> StoreServer::Listen(process::EventLoop& loop,
                                                               base::Clock& clock,
                                                               const StoreOptions& options) {
  TRY_ASSIGN(Listener listener, Listener::Bind(options.address, options.port, options.reach));
  return Serve(loop, clock, std::move(listener), options);
}

base::Result<std::unique_ptr<StoreServer>> StoreServer::Serve(process::EventLoop& loop,
                                                              base::Clock& clock, Listener listener,
                                                              const StoreOptions& options) {
  std::unique_ptr<StoreServer> server(new StoreServer(loop, clock, std::move(listener), options));
  TRY(server->WatchListener());
  loop.PollBusily();
  return server;
}

StoreServer::StoreServer(process::EventLoop& loop, base::Clock& clock, Listener listener,
                         const StoreOptions& options)
    : loop_(loop),
      clock_(clock),
      listener_(std::move(listener)),
      options_(options),
      data_(*this, options.max_bytes),
      now_(clock.Steady()),
      scratch_(kScratchBytes) {}

StoreServer::~StoreServer() {
  if (is_accepting_) loop_.Unwatch(listener_.fd());
  for (const auto& [id, connection] : connections_) loop_.Unwatch(connection->fd.get());
}

void StoreServer::StopListening() {
  if (std::exchange(is_accepting_, false)) loop_.Unwatch(listener_.fd());
  is_listening_ = false;
  listener_.Close();
}

base::Status StoreServer::WatchListener() {
  TRY(loop_.Watch(listener_.fd(), EPOLLIN, [this](uint32_t) { Accept(); }));
  is_accepting_ = true;
  return {};
}

void StoreServer::Accept() {
  now_ = clock_.Steady();
  for (int i = 0; i < kAcceptsPerWake; ++i) {
    Endpoint peer;
    base::Result<base::Fd> fd = listener_.Accept(peer);
    if (!fd) {
      if (fd.error().code == base::Code::kNotFound) return;
      // Out of descriptors: waiting connections are accepted when another one closes.
      loop_.Unwatch(listener_.fd());
      is_accepting_ = false;
      if (!std::exchange(was_exhausted_, true) && options_.on_exhausted) options_.on_exhausted();
      return;
    }
    const StoreClientId id = next_id_++;
    auto connection = std::make_unique<Connection>(StoreClient{id, std::move(peer), 0, now_},
                                                   std::move(*fd), options_.limits);
    if (!loop_.Watch(connection->fd.get(), EPOLLIN,
                     [this, id](uint32_t events) { OnReady(id, events); })) {
      continue;
    }
    connections_.emplace(id, std::move(connection));
    if (options_.on_client) options_.on_client();
  }
}

OutputQueue* StoreServer::OutputOf(StoreClientId client) {
  const auto found = connections_.find(client);
  if (found == connections_.end()) return nullptr;
  Connection& connection = *found->second;
  if (client != serving_ && !connection.is_woken) {
    connection.is_woken = true;
    woken_.push_back(client);
  }
  return &connection.output;
}

void StoreServer::OnReady(StoreClientId id, uint32_t events) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  Connection& connection = *found->second;
  now_ = clock_.Steady();
  bool is_open = true;
  if ((events & EPOLLOUT) != 0) {
    is_open = Flush(connection);
    // Complete requests that arrived before the reader fell behind.
    if (is_open && !IsBehind(connection) && !connection.input.empty()) {
      is_open = Carry(connection, {});
    }
  }
  if (is_open && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) is_open = Read(connection);
  if ((events & (EPOLLHUP | EPOLLERR)) != 0) is_open = false;
  if (is_open && connection.has_ended && connection.output.empty()) is_open = false;
  if (is_open) {
    Rewatch(connection);
  } else {
    Close(id);
  }
  FlushWoken();
}

bool StoreServer::Read(Connection& connection) {
  for (int i = 0; i < kReadsPerWake; ++i) {
    if (IsBehind(connection)) return true;
    const ssize_t got = ::recv(connection.fd.get(), scratch_.data(), scratch_.size(), 0);
    if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    if (got == 0) {
      connection.has_ended = true;
      return true;
    }
    if (HandOver(connection, {scratch_.data(), static_cast<size_t>(got)})) return false;
    if (!Carry(connection, {scratch_.data(), static_cast<size_t>(got)})) return false;
    if (static_cast<size_t>(got) < scratch_.size()) return true;
  }
  return true;
}

// Hands over a connection whose first bytes are not a store client's. The remaining Connection has
// to be closed.
bool StoreServer::HandOver(Connection& connection, std::string_view received) {
  if (!options_.on_other || received.front() != options_.other_first_byte ||
      connection.parser.dialect() != StoreDialect::kUnknown || !connection.input.empty()) {
    return false;
  }
  loop_.Unwatch(connection.fd.get());
  options_.on_other(std::move(connection.fd), connection.client.peer, received);
  return true;
}

bool StoreServer::IsBehind(const Connection& connection) const {
  return connection.output.pending() > options_.slow_reader_bytes;
}

// Appends `input` to the unprocessed input of the connection and carries out all complete requests.
bool StoreServer::Carry(Connection& connection, std::string_view input) {
  std::string& left = connection.input;
  const size_t before = left.size();
  if (!left.empty()) {
    left.append(input);
    input = left;
    if (left.size() < connection.parser.needed()) return Account(before, left.size());
  }
  size_t used = 0;
  serving_ = connection.client.id;
  bool is_good = true;
  do {
    is_good = Parse(connection, input, used) && Flush(connection);
  } while (is_good && used < input.size() && !IsBehind(connection) && connection.parser.is_whole());
  serving_ = 0;
  if (left.empty()) {
    left.assign(input.substr(used));
  } else {
    left.erase(0, used);
  }
  if (left.size() < kScratchBytes && left.capacity() > 2 * kScratchBytes) left.shrink_to_fit();
  return Account(before, left.size()) && is_good;
}

// Partly received requests count towards the store's memory limit.
bool StoreServer::Account(size_t before, size_t after) {
  input_bytes_ += after - before;
  return after <= before || input_bytes_ + data_.bytes() <= options_.max_bytes;
}

bool StoreServer::Parse(Connection& connection, std::string_view input, size_t& used) {
  while (used < input.size() && !IsBehind(connection)) {
    switch (connection.parser.Next(input.substr(used), request_)) {
      case StoreParser::Outcome::kNeedMore:
        return true;
      case StoreParser::Outcome::kGarbage:
        return false;
      case StoreParser::Outcome::kRequest:
        break;
    }
    used += connection.parser.consumed();
    if (options_.on_asks) {
      const bool is_torchrun = IsOfTorchrun(request_);
      if (!std::exchange(connection.has_asked, true) || is_torchrun) {
        options_.on_asks(connection.client.peer, is_torchrun);
      }
    }
    if (request_.op == StoreOp::kPing) {
      connection.client.nonce = static_cast<uint32_t>(request_.number);
    }
    if (!data_.Apply(connection.client.id, connection.parser.dialect(), request_, now_,
                     connection.output)) {
      return false;
    }
  }
  return true;
}

bool StoreServer::Flush(Connection& connection) {
  switch (connection.output.Flush(connection.fd.get())) {
    case OutputQueue::Flushed::kAll:
      return true;
    case OutputQueue::Flushed::kBlocked:
      return connection.output.pending() <=
             options_.max_pending_bytes + options_.limits.max_message_bytes;
    case OutputQueue::Flushed::kBroken:
      return false;
  }
  return false;
}

void StoreServer::FlushWoken() {
  while (!woken_.empty()) {
    const StoreClientId id = woken_.back();
    woken_.pop_back();
    const auto found = connections_.find(id);
    if (found == connections_.end()) continue;
    found->second->is_woken = false;
    if (Flush(*found->second)) {
      Rewatch(*found->second);
    } else {
      Close(id);
    }
  }
}

// Reads from clients that read their answers; writes to clients that are behind.
void StoreServer::Rewatch(Connection& connection) {
  uint32_t events = connection.output.empty() ? 0U : EPOLLOUT;
  if (!IsBehind(connection) && !connection.has_ended) events |= EPOLLIN;
  if (events == connection.events) return;
  connection.events = events;
  const StoreClientId id = connection.client.id;
  if (!loop_.Watch(connection.fd.get(), events,
                   [this, id](uint32_t ready) { OnReady(id, ready); })) {
    connection.has_ended = true;
  }
}

void StoreServer::Close(StoreClientId id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  if (found->second->fd) loop_.Unwatch(found->second->fd.get());
  input_bytes_ -= found->second->input.size();
  connections_.erase(found);
  data_.Forget(id);
  if (is_listening_ && !is_accepting_) (void)WatchListener();
}

void StoreServer::Reset() {
  while (!connections_.empty()) Close(connections_.begin()->first);
  data_.Clear();
}

StoreSnapshot StoreServer::Snapshot() const {
  StoreSnapshot snapshot;
  snapshot.at = clock_.Steady();
  for (const auto& [id, connection] : connections_) snapshot.clients.push_back(connection->client);
  std::sort(snapshot.clients.begin(), snapshot.clients.end(),
            [](const StoreClient& a, const StoreClient& b) { return a.id < b.id; });
  snapshot.keys = data_.Keys();
  snapshot.waiters = data_.Waiters(snapshot.at - kPollIsOver);
  return snapshot;
}

}  // namespace rendezvous
