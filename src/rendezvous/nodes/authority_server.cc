#include "rendezvous/nodes/authority_server.h"

#include <utility>

namespace rendezvous {
namespace {

// Connections that do not identify themselves are closed after this.
constexpr std::chrono::seconds kHandshakeTimeout{10};
constexpr size_t kMostStrangers = 8;

}  // namespace

struct AuthorityServer::Peer {
  uint64_t id = 0;
  NodeId node = 0;  // 0 until it has joined
  std::unique_ptr<AgentLink> link;
  process::EventLoop::TimerId handshake = 0;
};

AuthorityServer::AuthorityServer(process::EventLoop& loop, base::Clock& clock,
                                 AuthorityConfig config, std::function<void()> reset_store)
    : loop_(loop),
      clock_(clock),
      config_(std::move(config)),
      reset_store_(std::move(reset_store)),
      membership_(config_.job, config_.times, clock.Steady()) {
  Schedule();
}

AuthorityServer::~AuthorityServer() {
  loop_.Cancel(timer_);
  for (const auto& [id, peer] : peers_) loop_.Cancel(peer->handshake);
}

void AuthorityServer::Adopt(base::Fd fd, const Endpoint& peer_address, std::string_view received) {
  const uint64_t id = next_id_++;
  const auto peer = std::make_shared<Peer>();
  peer->id = id;
  AgentLink::Callbacks callbacks;
  callbacks.on_message = [this, raw = peer.get()](const AgentMessage& message) {
    OnMessage(*raw, message);
  };
  callbacks.on_closed = [this, id, peer_address](const AgentLink::Closed& closed) {
    OnClosed(id, closed.has_died);
    if (closed.is_other_version) {
      NoteStranger("a node at " + peer_address.address + " was refused: " + closed.why);
    }
  };
  peer->link = std::make_unique<AgentLink>(loop_, std::move(fd), AgentLink::Side::kAuthority,
                                           config_.token, std::move(callbacks));
  peer->handshake = loop_.After(kHandshakeTimeout, [this, id] {
    const auto found = peers_.find(id);
    if (found != peers_.end() && found->second->node == 0) Drop(id);
  });
  peers_.emplace(id, peer);
  peer->link->Start(received);
}

AuthorityServer::Peer* AuthorityServer::Of(NodeId node) {
  const auto found = peer_of_node_.find(node);
  return found == peer_of_node_.end() ? nullptr : peers_.at(found->second).get();
}

void AuthorityServer::OnMessage(Peer& peer, const AgentMessage& message) {
  using Type = AgentMessage::Type;
  const Moment now = clock_.Steady();
  if (message.type == Type::kJoin) {
    if (peer.node != 0) return Drop(peer.id);
    // This connection is older than another one on which the agent has joined: it has given this
    // one up.
    uint64_t& newest = newest_of_node_[message.node];
    if (peer.id < newest) return Drop(peer.id);
    newest = peer.id;
    // The same agent on a new connection: the old one is dead, whether or not that was noticed.
    if (const Peer* const old = Of(message.node)) Drop(old->id);
    peer.node = message.node;
    peer_of_node_[message.node] = peer.id;
    Carry(membership_.Join(message.node, message.request, message.node == config_.host, now));
    return ReportStrangers();
  }
  if (peer.node == 0) return Drop(peer.id);
  membership_.Heard(peer.node, now);
  switch (message.type) {
    case Type::kHeartbeat:
      peer.link->Send(message);
      return Schedule();
    case Type::kSucceeded:
      return Carry(membership_.Succeeded(peer.node, message.generation, now));
    case Type::kFailed:
      return Carry(membership_.Failed(peer.node, message.generation, *message.failure, now));
    case Type::kStopped:
      return Carry(membership_.Stopped(peer.node, message.generation, now));
    case Type::kLeave: {
      const NodeId node = peer.node;
      Drop(peer.id);
      return Carry(membership_.Leave(node, message.text, now));
    }
    case Type::kTell:
      return Relay(peer, message);
    default:
      return OnClosed(peer.id, false);
  }
}

void AuthorityServer::Relay(const Peer& from, AgentMessage message) {
  const auto node_rank = membership_.NodeRankOf(from.node);
  if (message.generation != membership_.generation() || !node_rank) return;
  message.node_rank = *node_rank;
  const bool is_from_host = from.node == config_.host;
  std::vector<NodeId> to;
  for (const auto& [node, id] : peer_of_node_) {
    if ((node == config_.host) != is_from_host) to.push_back(node);
  }
  for (const NodeId node : to) {
    if (Peer* const peer = Of(node)) peer->link->Send(message);
  }
}

void AuthorityServer::OnClosed(uint64_t id, bool has_died) {
  const auto found = peers_.find(id);
  if (found == peers_.end()) return;
  const NodeId node = found->second->node;
  Drop(id);
  if (node != 0) Carry(membership_.Disconnected(node, has_died, clock_.Steady()));
}

// It may be in use further up the stack, so it is destroyed afterwards.
void AuthorityServer::Drop(uint64_t id) {
  const auto found = peers_.find(id);
  if (found == peers_.end()) return;
  const std::shared_ptr<Peer> peer = found->second;
  loop_.Cancel(peer->handshake);
  peer->link->Close();
  if (peer->node != 0) peer_of_node_.erase(peer->node);
  peers_.erase(found);
  loop_.Post([peer] {});
  CallIfAlone();
}

// Consequences of a decision (such as finding a connection broken) wait until earlier decisions are
// sent.
void AuthorityServer::Carry(Decisions decisions) {
  for (Decision& decision : decisions) pending_.push_back(std::move(decision));
  if (is_carrying_) return;
  is_carrying_ = true;
  while (!pending_.empty()) {
    const Decision decision = std::move(pending_.front());
    pending_.pop_front();
    if (decision.kind == Decision::Kind::kNewStore) {
      reset_store_();
    } else if (Peer* const peer = Of(decision.node)) {
      if (decision.kind == Decision::Kind::kDrop) {
        Drop(peer->id);
      } else {
        Send(*peer, decision);
      }
    }
  }
  is_carrying_ = false;
  Schedule();
}

void AuthorityServer::Send(Peer& peer, const Decision& decision) {
  using Type = AgentMessage::Type;
  AgentMessage message;
  switch (decision.kind) {
    case Decision::Kind::kStart:
      message.type = Type::kStart;
      message.assignment = decision.assignment;
      message.assignment.master_port = config_.store_port;
      break;
    case Decision::Kind::kStop:
      message.type = Type::kStop;
      message.generation = decision.generation;
      message.reason = decision.reason;
      message.failure = decision.failure;
      break;
    case Decision::Kind::kEnd:
      message.type = Type::kEnd;
      message.end = decision.end;
      break;
    default:
      message.type = Type::kProgress;
      message.text = decision.text;
      break;
  }
  peer.link->Send(message);
}

// Only once the host's agent is there to show it.
void AuthorityServer::ReportStrangers() {
  if (Of(config_.host) == nullptr) return;
  for (auto& [line, is_reported] : strangers_) {
    if (!std::exchange(is_reported, true)) Carry(membership_.Announce(line));
  }
}

void AuthorityServer::NoteStranger(std::string line) {
  if (strangers_.size() < kMostStrangers) strangers_.try_emplace(std::move(line), false);
  ReportStrangers();
}

void AuthorityServer::NoteStoreClient(const std::string& address, bool is_torchrun) {
  if (!is_torchrun && membership_.generation() > 0) return;
  NoteStranger(address +
               " uses the workers' store but is not a worker of this job; is torchrun running "
               "there? Start every node with the same launcher");
}

void AuthorityServer::Schedule() {
  loop_.Cancel(timer_);
  timer_ = 0;
  const std::optional<Moment> next = membership_.NextDeadline();
  if (next) timer_ = loop_.At(*next, [this] { Carry(membership_.Tick(clock_.Steady())); });
}

void AuthorityServer::WhenAlone(std::function<void()> callback) {
  when_alone_ = std::move(callback);
  CallIfAlone();
}

void AuthorityServer::CallIfAlone() {
  if (!when_alone_) return;
  for (const auto& [id, peer] : peers_) {
    if (peer->node != 0 && peer->node != config_.host) return;
  }
  std::exchange(when_alone_, nullptr)();
}

}  // namespace rendezvous
