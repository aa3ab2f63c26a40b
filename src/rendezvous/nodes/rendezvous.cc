#include "rendezvous/nodes/rendezvous.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/random.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <thread>
#include <utility>

#include "base/backoff.h"
#include "base/block_signals.h"
#include "base/strings.h"
#include "rendezvous/nodes/agent_link.h"
#include "rendezvous/nodes/rendezvous_server.h"
#include "rendezvous/sockets/connector.h"
#include "rendezvous/sockets/resolve.h"

namespace rendezvous {
namespace {

constexpr std::chrono::seconds kConnectTimeout{10};
constexpr std::chrono::milliseconds kFirstRetry{100};
constexpr std::chrono::seconds kLastRetry{2};
constexpr std::chrono::seconds kFirstReport{2};
// A muster agent that accepts a connection sends its hello at once.
constexpr std::chrono::seconds kAnswerTimeout{3};
constexpr std::string_view kNoAnswer =
    "accepts connections but does not answer as a muster agent; is torchrun running there?";
// How long the endpoint's name may be unknown when it may be this machine's own.
constexpr std::chrono::seconds kOwnNameTimeout{60};

bool IsThisMachineOnly(const std::string& host) {
  return base::EqualsIgnoreCase(host, "localhost") || Endpoint{host, 0}.IsLoopback();
}

NodeId NewNodeId() {
  NodeId id = 0;
  while (id == 0) (void)!::getrandom(&id, sizeof id, 0);
  return id;
}

base::Status CheckConfig(const RendezvousConfig& config) {
  const NodeRequest& node = config.node;
  const auto bad = [](const std::string& what) {
    return base::Fail(base::Code::kInvalidArgument, what);
  };
  if (node.min_nodes < 1 || node.max_nodes < node.min_nodes) {
    return bad(
        fmt::format("--nnodes {}:{}: must have 1 <= MIN <= MAX", node.min_nodes, node.max_nodes));
  }
  if (node.nproc < 1) return bad("--nproc-per-node: must be at least 1");
  if (node.is_static && (!node.node_rank || *node.node_rank >= node.max_nodes)) {
    return bad(fmt::format("--node-rank: the static backend needs a rank from 0 to {}",
                           node.max_nodes - 1));
  }
  if (config.heartbeat_interval * 2 > config.heartbeat_timeout) {
    return bad("--rdzv-conf heartbeat_timeout: must be at least twice keep_alive_interval");
  }
  return {};
}

}  // namespace

class Rendezvous::Impl {
 public:
  Impl(process::EventLoop& loop, base::Clock& clock, RendezvousConfig config,
       RendezvousEvents& events, NodeId node)
      : loop_(loop), clock_(clock), config_(std::move(config)), events_(events), node_(node) {}
  ~Impl() {
    loop_.Cancel(retry_);
    loop_.Cancel(heartbeat_);
    loop_.Cancel(answer_);
    loop_.Cancel(warning_);
  }

  base::Status Begin() {
    TRY(StartServer());
    if (server_ && config_.is_host.value_or(false) && !config_.node.is_static) LookForHost();
    warning_ = loop_.After(kFirstReport, [this] { WarnIfHidden(); });
    give_up_ = clock_.Steady() + config_.join_timeout;
    since_ = clock_.Steady();
    Connect();
    return {};
  }
  void Report(AgentMessage::Type type, uint64_t generation, std::optional<Failure> failure);
  void Tell(uint64_t generation, const std::string& text);
  void Stopped(uint64_t generation);
  void Leave(const std::string& why);
  RendezvousServer* server() { return server_.get(); }
  uint16_t port() const { return config_.endpoint_port; }

 private:
  base::Status StartServer();
  void Connect();
  void ConnectAgain();
  void OnConnected(base::Result<Connected> made);
  void Retry(const std::string& why, base::Duration patience = base::Duration::max());
  void AwaitAnswer();
  std::string Advice() const;
  void LookForHost();
  void WarnIfHidden();
  void OnReady();
  void OnMessage(const AgentMessage& message);
  void OnClosed(const AgentLink::Closed& closed);
  void LoseHost(const std::string& why, bool is_last = false);
  void Beat();
  void Renew();
  base::Duration LeftUntil(SteadyTime when) const;
  base::Duration LeaseLeft() const;
  void Finish(const End& end);
  void DropLink();
  void KeepLinkUntilStopped();
  std::string EndpointText() const {
    return fmt::format("{}:{}", config_.endpoint_host, config_.endpoint_port);
  }
  void Fail(base::Code code, const std::string& message);

  process::EventLoop& loop_;
  base::Clock& clock_;
  RendezvousConfig config_;
  RendezvousEvents& events_;
  NodeId node_;
  std::unique_ptr<RendezvousServer> server_;
  bool is_port_taken_ = false;  // it would serve the endpoint if no other process here did
  bool is_undecided_ = false;   // the endpoint's name is not resolved yet: it may be this node's
  std::unique_ptr<Connector> connector_;
  std::shared_ptr<AgentLink> link_;
  std::shared_ptr<AgentLink> silent_link_;  // to a lost host, until the workers have stopped
  base::Backoff backoff_{kFirstRetry, kLastRetry};
  process::EventLoop::TimerId retry_ = 0;
  process::EventLoop::TimerId heartbeat_ = 0;
  process::EventLoop::TimerId answer_ = 0;
  process::EventLoop::TimerId warning_ = 0;
  bool is_answered_ = false;  // a muster agent has answered on this link
  SteadyTime give_up_;
  SteadyTime since_;
  SteadyTime heard_;
  // When this node sent the last heartbeat that was answered; the host has heard from it since.
  SteadyTime known_alive_;
  std::deque<SteadyTime> unanswered_;  // when they were sent
  base::Duration next_report_ = kFirstReport;
  uint64_t running_ = 0;         // the generation whose workers may run; 0: none
  bool waits_for_stop_ = false;  // the host is lost: join again once the workers have stopped
  bool has_ended_ = false;
  std::string lost_why_;  // of the host, since when it has not been reached
  // Whether the endpoint's name is known to lead elsewhere; set by another thread.
  std::shared_ptr<std::atomic<bool>> leads_elsewhere_ = std::make_shared<std::atomic<bool>>(false);
  std::string reached_;  // the host's name, or the one of its addresses that answers
};

namespace {

struct HostRole {
  // Null: the endpoint is not on this node, or another process of this machine listens there.
  std::unique_ptr<RendezvousServer> server;
  bool is_port_taken = false;  // the latter
};

base::Result<HostRole> ServeIfHost(base::Clock& clock, const RendezvousConfig& config,
                                   NodeId node) {
  bool must = config.is_host.value_or(config.endpoint_port == 0);
  if (config.node.is_static) must = *config.node.node_rank == 0;
  const bool may_not = (config.is_host && !*config.is_host) || (config.node.is_static && !must);
  if (may_not) return HostRole();
  if (!must) {
    TRY_ASSIGN(const std::vector<std::string> addresses, Resolve(config.endpoint_host));
    if (!std::any_of(addresses.begin(), addresses.end(), IsOwnAddress)) {
      return HostRole();
    }
  }
  base::Result<Listener> listener = Listener::Bind("", config.endpoint_port);
  if (!listener && !must && listener.error().os_errno == EADDRINUSE) {
    return HostRole{.server = nullptr, .is_port_taken = true};
  }
  if (!listener && config.node.is_static && listener.error().os_errno == EADDRINUSE) {
    listener.error().message += "; does another node have --node-rank=0 too?";
  }
  if (!listener) return base::Fail(listener.error().Wrap("rendezvous"));
  AuthorityConfig authority;
  authority.job = config.node;
  authority.host = node;
  authority.token = config.token;
  authority.times.join_timeout = config.join_timeout;
  authority.times.last_call_timeout = config.last_call_timeout;
  authority.times.heartbeat_timeout = config.heartbeat_timeout;
  authority.times.stop_timeout = config.stop_timeout;
  HostRole role;
  TRY_ASSIGN(role.server,
             RendezvousServer::Start(clock, std::move(*listener), std::move(authority)));
  return role;
}

}  // namespace

base::Status Rendezvous::Impl::StartServer() {
  auto host = ServeIfHost(clock_, config_, node_);
  is_undecided_ = false;
  if (host) {
    server_ = std::move(host->server);
    is_port_taken_ = host->is_port_taken;
    if (server_) config_.endpoint_port = server_->port();
    return {};
  }
  const base::Code code = host.error().code;
  is_undecided_ = code == base::Code::kNotFound || code == base::Code::kTimeout;
  return is_undecided_ ? base::Status() : base::Fail(std::move(host.error()));
}

void Rendezvous::Impl::Connect() {
  // When only a flag made this node the host, the address may belong to another machine.
  const bool is_known_here = server_ && !config_.node.is_static;
  connector_ = std::make_unique<Connector>(
      loop_, clock_, is_known_here ? "127.0.0.1" : config_.endpoint_host, config_.endpoint_port,
      std::clamp<base::Duration>(LeftUntil(give_up_), kFirstRetry, kConnectTimeout),
      [this](base::Result<Connected> made) { OnConnected(std::move(made)); });
}

// The process that served the endpoint from this machine may have gone: this node takes its place.
void Rendezvous::Impl::ConnectAgain() {
  if (is_port_taken_) {
    if (auto decided = StartServer(); !decided) {
      return Fail(decided.error().code, decided.error().message);
    }
  }
  Connect();
}

void Rendezvous::Impl::OnConnected(base::Result<Connected> made) {
  const bool is_unknown = !made && made.error().code == base::Code::kNotFound;
  if (is_undecided_ && !is_unknown && (made || made.error().code != base::Code::kTimeout)) {
    if (auto decided = StartServer(); !decided) {
      return Fail(decided.error().code, decided.error().message);
    }
  }
  if (!made) {
    const bool may_be_own = is_unknown && (server_ || is_undecided_);
    return Retry(made.error().message, may_be_own ? kOwnNameTimeout : base::Duration::max());
  }
  AgentLink::Callbacks callbacks;
  callbacks.on_ready = [this] { OnReady(); };
  callbacks.on_message = [this](const AgentMessage& message) { OnMessage(message); };
  callbacks.on_closed = [this](const AgentLink::Closed& closed) { OnClosed(closed); };
  reached_ = made->other_address.empty() ? config_.endpoint_host : made->other_address;
  link_ = std::make_shared<AgentLink>(loop_, std::move(made->fd), AgentLink::Side::kAgent,
                                      config_.token, std::move(callbacks));
  heard_ = clock_.Steady();
  is_answered_ = false;
  Beat();
  AwaitAnswer();
  link_->Start();
}

void Rendezvous::Impl::Retry(const std::string& why, base::Duration patience) {
  const auto now = clock_.Steady();
  const auto waited = std::chrono::duration_cast<std::chrono::seconds>(now - since_);
  const std::string where = fmt::format("{} ({})", EndpointText(), config_.endpoint_flag);
  if (now >= give_up_ || waited >= patience) {
    return Fail(base::Code::kTimeout,
                fmt::format("{}the rendezvous endpoint {} cannot be reached after {} s: {}{} {}",
                            lost_why_.empty() ? "" : "the host was lost (" + lost_why_ + "), and ",
                            where, waited.count(), why, why.ends_with('?') ? "" : ".", Advice()));
  }
  if (waited >= next_report_) {
    next_report_ = std::min<base::Duration>(waited * 2, waited + std::chrono::seconds(30));
    events_.OnProgress(fmt::format("waiting for the rendezvous endpoint {}: {} ({} s)", where, why,
                                   waited.count()));
  }
  retry_ = loop_.At(std::min(now + backoff_.Next(), give_up_), [this] { ConnectAgain(); });
}

std::string Rendezvous::Impl::Advice() const {
  if (server_) {
    return "This node serves it: it must be an address of this machine, and every node must be "
           "able to reach it.";
  }
  if (IsThisMachineOnly(config_.endpoint_host)) {
    return fmt::format(
        "That is this machine itself: if the node that hosts it is another one, "
        "{} must name that.",
        config_.endpoint_flag);
  }
  return "Is the node that hosts it up, and can this node reach the address, through any firewall?";
}

// Name servers that do not answer would block the loop, and nobody waits for this.
void Rendezvous::Impl::LookForHost() {
  const base::BlockSignals in_the_thread;
  std::thread([leads_elsewhere = leads_elsewhere_, host = config_.endpoint_host] {
    const auto addresses = Resolve(host);
    *leads_elsewhere =
        !addresses || std::none_of(addresses->begin(), addresses->end(), IsOwnAddress);
  }).detach();
}

// The others may look for the endpoint elsewhere, and host one themselves.
void Rendezvous::Impl::WarnIfHidden() {
  const auto& former = config_.node.former;
  const bool has_begun = former && former->generation > 0;
  if (has_begun || has_ended_ || !server_) return;
  if (IsThisMachineOnly(config_.endpoint_host)) {
    return events_.OnProgress(
        fmt::format("nodes on other machines cannot join at {} ({}): it must be this machine's "
                    "name or address, the same on every node",
                    EndpointText(), config_.endpoint_flag));
  }
  if (!*leads_elsewhere_) return;
  events_.OnProgress(
      fmt::format("this node serves {} (is_host=true), which is no address of this machine: it "
                  "must lead here, and no other node may have is_host=true",
                  EndpointText()));
}

void Rendezvous::Impl::AwaitAnswer() {
  answer_ = loop_.After(kAnswerTimeout, [this] {
    events_.OnProgress(fmt::format("{} {} ({})", EndpointText(), kNoAnswer, config_.endpoint_flag));
  });
}

void Rendezvous::Impl::OnReady() {
  loop_.Cancel(answer_);
  is_answered_ = true;
  backoff_.Reset();
  lost_why_.clear();
  next_report_ = kFirstReport;
  heard_ = known_alive_ = clock_.Steady();
  unanswered_.clear();
  AgentMessage join;
  join.type = AgentMessage::Type::kJoin;
  join.node = node_;
  join.request = config_.node;
  join.request.can_host = is_port_taken_;
  link_->Send(join);
}

void Rendezvous::Impl::Beat() {
  loop_.Cancel(heartbeat_);
  heartbeat_ = loop_.After(config_.heartbeat_interval, [this] {
    if (!link_) return;
    const auto now = clock_.Steady();
    const auto silent = now - heard_;
    if (silent >= config_.heartbeat_timeout || (!is_answered_ && now >= give_up_)) {
      return LoseHost(
          fmt::format("it has not been heard from for {} s",
                      std::chrono::duration_cast<std::chrono::seconds>(silent).count()));
    }
    AgentMessage beat;
    beat.type = AgentMessage::Type::kHeartbeat;
    link_->Send(beat);
    if (link_ && link_->is_ready()) unanswered_.push_back(now);
    Beat();
  });
}

// The authority goes on 1.5 times the heartbeat timeout after it last heard from this node. The
// rest of that time is for killing the workers.
base::Duration Rendezvous::Impl::LeaseLeft() const {
  return LeftUntil(known_alive_ + config_.heartbeat_timeout * 5 / 4);
}
void Rendezvous::Impl::Renew() {
  if (running_ != 0) events_.OnLease(LeaseLeft());
}

base::Duration Rendezvous::Impl::LeftUntil(SteadyTime when) const {
  const auto left = std::chrono::duration_cast<base::Duration>(when - clock_.Steady());
  return std::max(left, base::Duration::zero());
}

void Rendezvous::Impl::OnMessage(const AgentMessage& message) {
  using Type = AgentMessage::Type;
  heard_ = clock_.Steady();
  if (message.type == Type::kHeartbeat && !unanswered_.empty()) {
    known_alive_ = unanswered_.front();
    unanswered_.pop_front();
  }
  Renew();
  switch (message.type) {
    case Type::kStart: {
      // Another generation may run by now, without this node.
      if (LeaseLeft() <= base::Duration::zero()) {
        return LoseHost("its message to start came too late");
      }
      running_ = message.assignment.generation;
      Renew();
      Assignment assignment = message.assignment;
      config_.node.former = {running_, assignment.authority, assignment.restart_count,
                             assignment.guests, assignment.self};
      // By which this node reaches the host, as it has just done.
      assignment.master_addr = server_ ? config_.endpoint_host : reached_;
      return events_.OnStart(assignment);
    }
    case Type::kStop:
      if (message.generation != running_) {
        return Report(Type::kStopped, message.generation, std::nullopt);
      }
      return events_.OnStop(running_, message.reason, message.failure, config_.stop_timeout);
    case Type::kEnd:
      return Finish(message.end);
    case Type::kProgress:
      return events_.OnProgress(message.text);
    case Type::kTell:
      if (running_ != 0 && message.generation == running_) {
        events_.OnTold(message.node_rank, message.text);
      }
      return;
    default:
      return;
  }
}

void Rendezvous::Impl::OnClosed(const AgentLink::Closed& closed) {
  if (closed.is_refused) {
    return Fail(base::Code::kUnauthenticated,
                fmt::format("the rendezvous endpoint {} refused this node: {}", EndpointText(),
                            closed.why));
  }
  // The authority drops a node that was silent for longer than its lease, and goes on.
  LoseHost(closed.why, closed.has_died && LeaseLeft() > base::Duration::zero());
}

void Rendezvous::Impl::DropLink() {
  loop_.Cancel(heartbeat_);
  loop_.Cancel(answer_);
  for (auto* const link : {&link_, &silent_link_}) {
    if (!*link) continue;
    (*link)->Close();
    // It may be in use further up the stack.
    loop_.Post([dropped = std::exchange(*link, nullptr)] {});
  }
}

// The host would take the end of the connection for the end of this process, whose guardian ends
// the workers at once.
void Rendezvous::Impl::KeepLinkUntilStopped() {
  loop_.Cancel(heartbeat_);
  loop_.Cancel(answer_);
  if (!link_) return;
  link_->FallSilent();
  silent_link_ = std::exchange(link_, nullptr);
}

// Workers of this node are stopped before the host goes on without it; then it joins again.
void Rendezvous::Impl::LoseHost(const std::string& why, bool is_last) {
  if (running_ != 0 && is_answered_) {
    KeepLinkUntilStopped();
  } else {
    DropLink();
  }
  if (has_ended_) return;
  if (!is_answered_) return Retry(fmt::format("{} {}", EndpointText(), kNoAnswer));
  if (!config_.node.former) config_.node.former.emplace();
  config_.node.former->is_last = is_last && running_ != 0;
  lost_why_ = why;
  since_ = clock_.Steady();
  give_up_ = since_ + config_.join_timeout;
  if (running_ == 0) return Retry("connection lost: " + why);
  waits_for_stop_ = true;
  const base::Duration within = std::min<base::Duration>(
      config_.heartbeat_timeout / 2, LeftUntil(known_alive_ + config_.heartbeat_timeout * 7 / 5));
  events_.OnLease(within);
  const Failure failure{
      config_.endpoint_host, -1, -1, 1,
      fmt::format("the rendezvous host {} was lost: {}", config_.endpoint_host, why)};
  events_.OnStop(running_, StopReason::kHostLost, failure, within);
}

void Rendezvous::Impl::Stopped(uint64_t generation) {
  if (has_ended_ || generation != running_ || running_ == 0) return;
  running_ = 0;
  events_.OnLease(std::nullopt);
  if (!std::exchange(waits_for_stop_, false)) {
    return Report(AgentMessage::Type::kStopped, generation, std::nullopt);
  }
  DropLink();
  const NodeRequest& node = config_.node;
  if (node.former->restart_count >= node.max_restarts && node.min_nodes == node.max_nodes) {
    End end;
    end.kind = EndKind::kFailed;
    end.failure = Failure{
        config_.endpoint_host, -1, -1, 1,
        fmt::format("the rendezvous host {} was lost: {}", config_.endpoint_host, lost_why_)};
    return Finish(end);
  }
  Retry("connection lost: " + lost_why_);
}

void Rendezvous::Impl::Report(AgentMessage::Type type, uint64_t generation,
                              std::optional<Failure> failure) {
  if (has_ended_ || !link_) return;
  AgentMessage message;
  message.type = type;
  message.generation = generation;
  message.failure = std::move(failure);
  const std::shared_ptr<AgentLink> link = link_;
  link->Send(message);
}

void Rendezvous::Impl::Tell(uint64_t generation, const std::string& text) {
  if (has_ended_ || !link_ || generation != running_ || text.size() > kLongestTold) return;
  AgentMessage message;
  message.type = AgentMessage::Type::kTell;
  message.generation = generation;
  message.text = text;
  const std::shared_ptr<AgentLink> link = link_;
  link->Send(message);
}

void Rendezvous::Impl::Leave(const std::string& why) {
  if (has_ended_) return;
  has_ended_ = true;
  loop_.Cancel(retry_);
  connector_.reset();
  // Before the others hear of it: they must not find this host again.
  if (server_) server_->StopListening();
  if (link_) {
    AgentMessage leave;
    leave.type = AgentMessage::Type::kLeave;
    leave.text = why;
    const std::shared_ptr<AgentLink> link = link_;
    link->Send(leave);
  }
  DropLink();
}

void Rendezvous::Impl::Finish(const End& end) {
  if (has_ended_) return;
  has_ended_ = true;
  running_ = 0;
  loop_.Cancel(retry_);
  DropLink();
  events_.OnLease(std::nullopt);
  events_.OnEnd(end);
}

void Rendezvous::Impl::Fail(base::Code code, const std::string& message) {
  End end;
  end.kind = EndKind::kError;
  end.error = {code, message, 0};
  Finish(end);
}

Rendezvous::Rendezvous(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Rendezvous::~Rendezvous() = default;

base::Result<std::unique_ptr<Rendezvous>> Rendezvous::Join(process::EventLoop& loop,
                                                           base::Clock& clock,
                                                           const RendezvousConfig& config,
                                                           RendezvousEvents& events) {
  TRY(CheckConfig(config));
  const NodeId node = NewNodeId();
  auto impl = std::make_unique<Impl>(loop, clock, config, events, node);
  TRY(impl->Begin());
  return std::unique_ptr<Rendezvous>(new Rendezvous(std::move(impl)));
}

void Rendezvous::Succeeded(uint64_t generation) {
  impl_->Report(AgentMessage::Type::kSucceeded, generation, std::nullopt);
}
void Rendezvous::Failed(uint64_t generation, const Failure& failure) {
  impl_->Report(AgentMessage::Type::kFailed, generation, failure);
}
void Rendezvous::Tell(uint64_t generation, const std::string& text) {
  impl_->Tell(generation, text);
}
void Rendezvous::Stopped(uint64_t generation) { impl_->Stopped(generation); }
void Rendezvous::Leave(const std::string& why) { impl_->Leave(why); }
bool Rendezvous::is_host() const { return impl_->server() != nullptr; }
uint16_t Rendezvous::port() const { return impl_->port(); }
void Rendezvous::StopListening() {
  if (impl_->server() != nullptr) impl_->server()->StopListening();
}
StoreSnapshot Rendezvous::Snapshot() {
  return impl_->server() == nullptr ? StoreSnapshot{} : impl_->server()->Snapshot();
}

}  // namespace rendezvous
