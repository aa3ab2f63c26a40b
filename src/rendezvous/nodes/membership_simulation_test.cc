// Agents join, die, fall silent, hang, lose their connections, fail and leave in random orders
// (seeded), on networks that are slow, partitioned and cut. So does the host, whose place another
// agent of its machine takes, or a launcher that is started there. Whatever happens, ranks are
// right, two generations never run at once, the verdict names who failed first, and everybody ends.
// Membership is the product's. The authority's connections, the agents and their guardians follow
// the rules of authority_server.cc, rendezvous.cc and the launcher's guardian.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <random>

#include "rendezvous/nodes/membership.h"
#include "rendezvous/testing/membership_invariants.h"

namespace rendezvous {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBeat{1000};
constexpr Moment kNever = Moment::max();

// From an agent to the authority.
struct Report {
  enum class Kind { kHeartbeat, kJoin, kSucceeded, kFailed, kStopped, kLeave, kClosed };
  Kind kind = Kind::kHeartbeat;
  uint64_t generation = 0;
  Failure failure;
};
// From the authority to an agent: a decision, its heartbeat (kProgress), or the end of the
// connection (kDrop).
template <typename Message>
struct Sent {
  Moment due;
  Message message;
};

Decision Beat() {
  Decision beat;
  beat.kind = Decision::Kind::kProgress;
  beat.text = "heartbeat";
  return beat;
}

// What is under way between an agent and the authority. It keeps its order, as TCP does, but what
// an agent sent before it connected again may come after what it sent then.
struct Connection {
  NodeId node = 0;
  uint64_t authority = 0;
  milliseconds delay{1};
  bool is_cut = false;        // partitioned: nothing arrives, and nothing is lost
  bool is_joined = false;     // at the authority
  bool is_over_up = false;    // the authority reads no more of it
  bool is_over_down = false;  // the agent reads no more of it
  std::deque<Sent<Report>> up;
  std::deque<Sent<Decision>> down;
};

struct Agent {
  uint64_t connection = 0;  // 0: none
  bool is_on_host_machine = false;
  std::optional<Former> former;  // once it has lost an authority
  Former last_run;               // by the authority that it has
  bool is_dead = false;  // the process; its workers live on until its guardian has ended them
  bool has_ended = false;
  bool waits_for_stop = false;  // the authority is lost: connects again once the workers stopped
  uint64_t running = 0;         // the generation; 0: no workers
  uint64_t authority = 0;       // that started them
  uint64_t asked_to_stop = 0;   // the generation
  uint64_t killed = 0;          // the generation of workers that ended so, unknown to the agent
  Moment lease = kNever;        // the guardian ends the workers then
  Moment heard;
  Moment trusted;            // when it sent the last heartbeat that was answered
  std::deque<Moment> beats;  // that are not answered
  Moment next_beat = kNever;
  Moment stops_at = kNever;
  Moment connects_at = kNever;
  Moment hangs_until;
};

class Simulation {
 public:
  explicit Simulation(uint32_t seed) : random_(seed) {
    request_.nproc = Pick(1, 4);
    request_.min_nodes = Pick(1, 3);
    request_.max_nodes = request_.min_nodes + Pick(0, 3);
    request_.max_restarts = Pick(0, 20);
    is_slow_ = Pick(0, 3) == 0;
    Arrive(true);
  }

  void Run(int faults) {
    for (int i = 0; i < faults && !HasEnded(); ++i) {
      Disturb();
      RunFor(milliseconds(Pick(0, 4) == 0 ? Pick(1, 8000) : Pick(1, 400)));
    }
  }
  // Nothing goes wrong any more: every agent is reachable, and all workers succeed.
  void CalmDown() {
    is_calm_ = true;
    is_slow_ = false;
    authority_hangs_until_ = now_;
    for (auto& [number, connection] : connections_) connection.is_cut = false;
    for (int step = 0; step < 5'000 && !IsOver(); ++step) {
      for (auto& [id, agent] : agents_) {
        if (agent.running != 0 && agent.stops_at == kNever && Pick(0, 20) == 0) Succeed(agent);
      }
      const bool is_short = agents_.size() < static_cast<size_t>(request_.min_nodes);
      if (!membership_ && !agents_.empty() && now_ >= free_at_) {
        Arrive(true);
      } else if (is_short && !HasEnded() && membership_) {
        Arrive(false);
      }
      RunFor(milliseconds(Pick(1, 500)));
    }
  }
  // The job, and every agent.
  bool IsOver() const { return (!membership_ || membership_->has_ended()) && agents_.empty(); }
  uint64_t generations() const { return starts_; }

 private:
  int Pick(int from, int to) {
    return from + static_cast<int>(random_() % static_cast<uint32_t>(to - from + 1));
  }
  bool HasEnded() const { return membership_ ? membership_->has_ended() : agents_.empty(); }
  Agent* AnyAgent(bool may_be_host) {
    if (agents_.empty()) return nullptr;
    auto place = std::next(agents_.begin(), Pick(0, static_cast<int>(agents_.size()) - 1));
    picked_ = place->first;
    return !place->second.is_dead && (may_be_host || picked_ != host_) ? &place->second : nullptr;
  }

  void Arrive(bool is_on_host_machine) {
    const NodeId id = next_id_++;
    NodeRequest request = request_;
    request.host = fmt::format("n{}", id);
    if (Pick(0, 9) == 0) request.node_rank = Pick(0, 3);
    requests_[id] = request;
    invariants_.Named(id, request.host);
    agents_[id].is_on_host_machine = is_on_host_machine;
    Connect(id, agents_[id]);
  }
  // Nobody serves the endpoint.
  void Serve(NodeId id) {
    NodeRequest job = request_;
    job.former = agents_[id].former;
    membership_.emplace(job, times_, now_);
    host_ = id;
    ++authority_;
    authority_hangs_until_ = now_;
    newest_.clear();
    invariants_.AnotherAuthority();
  }
  // The process of the host is gone, and the port is free.
  void LoseAuthorityProcess() {
    membership_.reset();
    host_ = 0;
    // Whoever starts a launcher anew on that machine knows nothing of the workers that may run.
    free_at_ = now_ + times_.heartbeat_timeout * 3 / 2;
    for (auto& [number, connection] : connections_) {
      connection.up.clear();
      Drop(number);
    }
  }
  void Connect(NodeId id, Agent& agent) {
    if (!membership_ && agent.is_on_host_machine) Serve(id);
    if (!membership_) {
      agent.connects_at = now_ + milliseconds(Pick(100, 2000));
      return;
    }
    agent.connection = next_connection_++;
    agent.connects_at = kNever;
    requests_[id].can_host = agent.is_on_host_machine && id != host_;
    requests_[id].former = agent.former;
    agent.heard = agent.trusted = now_;
    agent.beats.clear();
    agent.next_beat = now_ + kBeat;
    Connection& connection = connections_[agent.connection];
    connection.node = id;
    connection.authority = authority_;
    const bool is_slow = is_slow_ && !agent.is_on_host_machine && Pick(0, 1) == 0;
    connection.delay = milliseconds(is_slow ? Pick(1, 6000) : Pick(0, 50));
    Send(agent, {Report::Kind::kJoin, 0, {}});
  }

  void Disturb() {
    const int what = Pick(0, 13);
    if (what == 0 && agents_.size() < 7) {
      return Arrive((membership_ || now_ >= free_at_) && Pick(0, 3) == 0);
    }
    if (!membership_ && now_ >= free_at_ && Pick(0, 20) == 0) return Arrive(true);
    Agent* const agent = AnyAgent(what <= 1 || what >= 6 || Pick(0, 5) == 0);
    if (agent == nullptr) return;
    const auto connected = connections_.find(agent->connection);
    Connection* const connection = connected == connections_.end() ? nullptr : &connected->second;
    switch (what) {
      case 1:
        return Fail(picked_, *agent);
      case 2:
        return Die(*agent);
      case 3:
        if (connection != nullptr && !agent->is_on_host_machine) {
          connection->is_cut = !connection->is_cut;
        }
        return;
      case 4:  // both sides notice that the connection breaks
        if (connection != nullptr) Break(agent->connection, *agent);
        return;
      case 5:
        if (connection != nullptr && agent->running == 0 && Pick(0, 3) == 0) {
          invariants_.IsLost(requests_[picked_].host);
          agent->has_ended = true;
          if (picked_ == host_) {
            Carry(membership_->Leave(host_, "asked to", now_));
            return LoseAuthorityProcess();
          }
          Send(*agent, {Report::Kind::kLeave, 0, {}});
          Close(*agent);
        }
        return;
      case 6:
        if (agent->running != 0 && agent->stops_at == kNever && Pick(0, 3) == 0) Succeed(*agent);
        return;
      case 7:  // stopped, swapped out: for longer than everybody's patience, sometimes
        agent->hangs_until = now_ + milliseconds(Pick(0, 20'000));
        return;
      case 8:
        if (Pick(0, 5) == 0) authority_hangs_until_ = now_ + milliseconds(Pick(0, 20'000));
        return;
      default:
        return;
    }
  }

  void Send(Agent& agent, Report report) {
    const auto found = connections_.find(agent.connection);
    if (found == connections_.end() || found->second.is_over_down) return;
    Connection& connection = found->second;
    const Moment due = now_ + connection.delay;
    connection.up.push_back(
        {connection.up.empty() ? due : std::max(due, connection.up.back().due), std::move(report)});
  }
  void Fail(NodeId id, Agent& agent) {
    if (agent.running == 0 || agent.stops_at != kNever || agent.hangs_until > now_) return;
    const int rank = Pick(0, 63);
    Send(agent, {Report::Kind::kFailed,
                 agent.running,
                 {requests_[id].host, rank, 0, 1, fmt::format("generation {}", agent.running)}});
  }
  void Succeed(Agent& agent) {
    if (agent.is_dead || agent.connection == 0 || agent.hangs_until > now_) return;
    Send(agent, {Report::Kind::kSucceeded, agent.running, {}});
    agent.running = 0;
    agent.lease = kNever;
  }
  void Close(Agent& agent) {
    const auto found = connections_.find(agent.connection);
    if (found == connections_.end()) return;
    found->second.is_over_down = false;
    Send(agent, {Report::Kind::kClosed, 0, {}});
    found->second.is_over_down = true;
    agent.connection = 0;
    agent.next_beat = kNever;
  }
  // Killed: the kernel closes its connection, and the guardian ends the workers within the grace.
  void Die(Agent& agent) {
    agent.is_dead = true;
    Close(agent);
    agent.stops_at = std::min(agent.stops_at, now_ + milliseconds(Pick(0, 900)));
    if (picked_ == host_) LoseAuthorityProcess();
  }
  void Break(uint64_t number, Agent& agent) {
    Connection& connection = connections_.at(number);
    if (connection.is_cut || agent.hangs_until > now_) return;
    connection.up.clear();
    connection.down.clear();
    Disconnect(number, false);
    LoseAuthority(agent);
  }

  // The connection stays open until the workers have stopped: its end would say that they have.
  void LoseAuthority(Agent& agent) {
    if (agent.connection == 0 || agent.has_ended || agent.is_dead) return;
    agent.former = agent.last_run;
    connections_.at(agent.connection).is_over_down = true;
    agent.next_beat = kNever;
    if (agent.running == 0) return CloseAndRetry(agent);
    agent.waits_for_stop = true;
    agent.stops_at = std::min(agent.stops_at, now_ + milliseconds(Pick(0, 4900)));
    agent.lease = std::min(now_ + times_.heartbeat_timeout / 2,
                           agent.trusted + times_.heartbeat_timeout * 7 / 5);
  }
  void CloseAndRetry(Agent& agent) {
    Close(agent);
    agent.connects_at = now_ + milliseconds(Pick(100, 2000));
  }

  void RunFor(base::Duration by) {
    const Moment until = now_ + by;
    while (true) {
      const Moment next = NextMoment();
      if (next > until) break;
      now_ = std::max(now_, next);
      MoveAuthority();
      for (auto& [id, agent] : agents_) MoveAgent(id, agent);
      std::erase_if(agents_, [](const auto& entry) {
        return (entry.second.is_dead || entry.second.has_ended) && entry.second.running == 0;
      });
      // Its authority refused the host itself.
      const bool is_alone = membership_ && !membership_->has_ended() && !agents_.contains(host_);
      if (is_alone) LoseAuthorityProcess();
      std::erase_if(connections_, [this](const auto& entry) { return IsForgotten(entry.second); });
    }
    now_ = until;
  }
  bool IsForgotten(const Connection& connection) const {
    const auto agent = agents_.find(connection.node);
    const auto current =
        agent == agents_.end() ? connections_.end() : connections_.find(agent->second.connection);
    const bool is_used = current != connections_.end() && &current->second == &connection;
    return !is_used && connection.is_over_up;
  }
  Moment NextMoment() const {
    Moment next = kNever;
    const auto consider = [&next](Moment when) { next = std::min(next, when); };
    Moment authority = kNever;
    for (const auto& [number, connection] : connections_) {
      if (connection.is_cut) continue;
      if (!connection.up.empty() && !connection.is_over_up) {
        authority = std::min(authority, connection.up.front().due);
      }
      if (connection.down.empty() || connection.is_over_down) continue;
      const auto agent = agents_.find(connection.node);
      if (agent == agents_.end() || agent->second.is_dead) continue;
      consider(std::max(connection.down.front().due, agent->second.hangs_until));
    }
    const auto next_tick = membership_ ? membership_->NextDeadline() : std::nullopt;
    if (next_tick) authority = std::min(authority, *next_tick);
    if (authority != kNever) consider(std::max(authority, authority_hangs_until_));
    for (const auto& [id, agent] : agents_) {
      if (agent.running != 0) consider(agent.lease);
      const Moment at = std::min({agent.next_beat, agent.stops_at, agent.connects_at});
      if (at != kNever) consider(agent.is_dead ? agent.stops_at : std::max(at, agent.hangs_until));
    }
    return next;
  }

  // Messages first, and then the deadline, as its event loop has them.
  void MoveAuthority() {
    if (!membership_ || now_ < authority_hangs_until_) return;
    std::vector<uint64_t> numbers;
    for (const auto& [number, connection] : connections_) numbers.push_back(number);
    for (const uint64_t number : numbers) {
      Connection& connection = connections_.at(number);
      while (!connection.is_over_up && !connection.is_cut && !connection.up.empty() &&
             connection.up.front().due <= now_) {
        const Report report = std::move(connection.up.front().message);
        connection.up.pop_front();
        Receive(number, report);
        // What comes twice changes nothing.
        const bool is_event = report.generation != 0;
        if (is_event && Pick(0, 7) == 0) Receive(number, report);
      }
    }
    Carry(membership_->Tick(now_));
    const auto next = membership_->NextDeadline();
    ASSERT_TRUE(!next || *next > now_) << "a deadline that Tick leaves in the past";
  }
  void Receive(uint64_t number, const Report& report) {
    Connection& connection = connections_.at(number);
    if (connection.is_over_up) return;
    const NodeId node = connection.node;
    if (report.kind == Report::Kind::kJoin) {
      uint64_t& newest = newest_[node];
      if (number < newest) return Drop(number);
      newest = number;
      if (const auto old = peers_.find(node); old != peers_.end()) {
        invariants_.IsLost(requests_[node].host);
        Drop(old->second);
      }
      connection.is_joined = true;
      peers_[node] = number;
      return Carry(membership_->Join(node, requests_[node], node == host_, now_));
    }
    if (report.kind == Report::Kind::kClosed) return Disconnect(number, true);
    membership_->Heard(node, now_);
    switch (report.kind) {
      case Report::Kind::kHeartbeat:
        return Answer(number, Beat());
      case Report::Kind::kSucceeded:
        return Carry(membership_->Succeeded(node, report.generation, now_));
      case Report::Kind::kFailed:
        invariants_.HasFailed(report.generation, report.failure);
        return Carry(membership_->Failed(node, report.generation, report.failure, now_));
      case Report::Kind::kStopped:
        return Carry(membership_->Stopped(node, report.generation, now_));
      default:
        Drop(number);
        return Carry(membership_->Leave(node, "asked to", now_));
    }
  }
  void Drop(uint64_t number) {
    Connection& connection = connections_.at(number);
    if (std::exchange(connection.is_over_up, true)) return;
    Decision end;
    end.kind = Decision::Kind::kDrop;
    Answer(number, end);
    if (connection.is_joined) peers_.erase(connection.node);
  }
  void Disconnect(uint64_t number, bool has_died) {
    const Connection& connection = connections_.at(number);
    if (connection.is_over_up) return;
    const bool is_joined = connection.is_joined;
    const NodeId node = connection.node;
    Drop(number);
    if (!is_joined) return;
    invariants_.IsLost(requests_[node].host);
    Carry(membership_->Disconnected(node, has_died, now_));
  }
  void Answer(uint64_t number, const Decision& decision) {
    Connection& connection = connections_.at(number);
    const Moment due = now_ + connection.delay;
    connection.down.push_back(
        {connection.down.empty() ? due : std::max(due, connection.down.back().due), decision});
  }
  void Carry(const Decisions& decisions) {
    if (const auto started = invariants_.CheckStarts(decisions)) {
      ++starts_;
      CheckNobodyRuns(*started, authority_);
    }
    for (const Decision& decision : decisions) {
      invariants_.CheckVerdict(decision);
      const auto peer = peers_.find(decision.node);
      if (peer == peers_.end()) continue;
      if (decision.kind == Decision::Kind::kDrop) {
        invariants_.IsLost(requests_[decision.node].host);
        Drop(peer->second);
      } else {
        Answer(peer->second, decision);
      }
    }
  }

  void MoveAgent(NodeId id, Agent& agent) {
    if (agent.running != 0 && agent.lease <= now_) {
      // Its guardian ends the workers; the agent learns of it when it can.
      if (agent.stops_at == kNever) agent.killed = agent.running;
      agent.running = 0;
      agent.lease = kNever;
    }
    if (!agent.is_dead && agent.hangs_until > now_) return;
    if (const uint64_t killed = std::exchange(agent.killed, 0); killed != 0) {
      Send(agent, {Report::Kind::kFailed, killed, {requests_[id].host, 0, 0, -9, "killed"}});
    }
    if (!agent.is_dead) Hear(agent);
    if (agent.stops_at <= now_) HaveStopped(agent);
    if (agent.is_dead || agent.has_ended) return;
    if (agent.next_beat <= now_ && agent.connection != 0) {
      if (now_ - agent.heard >= times_.heartbeat_timeout) return LoseAuthority(agent);
      agent.beats.push_back(now_);
      Send(agent, {});
      agent.next_beat = now_ + kBeat;
    }
    if (agent.connects_at <= now_ && (is_calm_ || Pick(0, 3) != 0)) return Connect(id, agent);
    if (agent.connects_at <= now_) agent.connects_at = now_ + milliseconds(Pick(100, 2000));
  }
  void HaveStopped(Agent& agent) {
    agent.stops_at = kNever;
    agent.running = 0;
    agent.lease = kNever;
    if (agent.is_dead || agent.has_ended) return;
    if (std::exchange(agent.waits_for_stop, false)) return CloseAndRetry(agent);
    Send(agent, {Report::Kind::kStopped, agent.asked_to_stop, {}});
  }
  void Hear(Agent& agent) {
    while (agent.connection != 0 && !agent.has_ended) {
      Connection& connection = connections_.at(agent.connection);
      if (connection.is_cut || connection.is_over_down || connection.down.empty() ||
          connection.down.front().due > now_) {
        return;
      }
      const Decision decision = std::move(connection.down.front().message);
      connection.down.pop_front();
      const Moment trusted_until = agent.trusted + times_.heartbeat_timeout * 5 / 4;
      if (decision.kind == Decision::Kind::kDrop) {
        agent.last_run.is_last = agent.running != 0 && now_ < trusted_until;
        return LoseAuthority(agent);
      }
      agent.heard = now_;
      if (decision.text == "heartbeat" && !agent.beats.empty()) {
        agent.trusted = agent.beats.front();
        agent.beats.pop_front();
      }
      const Moment lease = agent.trusted + times_.heartbeat_timeout * 5 / 4;
      if (decision.kind == Decision::Kind::kStart && lease <= now_) return LoseAuthority(agent);
      Obey(agent, decision);
      if (agent.running != 0) agent.lease = lease;
    }
  }
  void Obey(Agent& agent, const Decision& decision) {
    switch (decision.kind) {
      case Decision::Kind::kStart:
        CheckNobodyRuns(decision.assignment.generation, AuthorityOf(agent));
        agent.running = decision.assignment.generation;
        agent.authority = AuthorityOf(agent);
        agent.last_run = {agent.running, decision.assignment.authority,
                          decision.assignment.restart_count, decision.assignment.guests,
                          decision.assignment.self};
        agent.stops_at = kNever;
        return;
      case Decision::Kind::kStop:
        agent.asked_to_stop = decision.generation;
        agent.stops_at = now_ + milliseconds(agent.running == 0 ? 0 : Pick(0, 8000));
        return;
      case Decision::Kind::kEnd:
        agent.has_ended = true;
        agent.stops_at = now_ + milliseconds(Pick(0, 900));
        Close(agent);
        return;
      default:
        return;
    }
  }

  uint64_t AuthorityOf(const Agent& agent) const {
    return connections_.at(agent.connection).authority;
  }
  void CheckNobodyRuns(uint64_t generation, uint64_t authority) {
    for (const auto& [id, agent] : agents_) {
      const bool is_of_it = agent.running == generation && agent.authority == authority;
      EXPECT_TRUE(agent.running == 0 || is_of_it)
          << "n" << id << " still runs generation " << agent.running << " as " << generation
          << " starts";
    }
  }
  std::mt19937 random_;
  MembershipTimes times_;
  NodeRequest request_;
  Moment now_ = Moment(std::chrono::seconds(1000));
  Moment authority_hangs_until_ = now_;
  std::optional<Membership> membership_;  // nullopt: nobody serves the endpoint
  NodeId host_ = 0;
  uint64_t authority_ = 0;  // counts them
  Moment free_at_ = now_;   // from then on, somebody may start another host
  uint64_t starts_ = 0;
  std::map<NodeId, uint64_t> newest_;  // the connection by which each has joined last
  std::map<NodeId, uint64_t> peers_;   // the connection by which each has joined
  std::map<uint64_t, Connection> connections_;
  std::map<NodeId, Agent> agents_;
  std::map<NodeId, NodeRequest> requests_;
  MembershipInvariants invariants_{request_};
  NodeId next_id_ = 1;
  NodeId picked_ = 0;
  uint64_t next_connection_ = 1;
  bool is_calm_ = false;
  bool is_slow_ = false;
};

// MUSTER_SIMULATIONS and MUSTER_SEED: how many runs, or which one to repeat.
TEST(MembershipSimulation, RanksAndVerdictsAreRightAndNoTwoGenerationsRunWhateverHappens) {
  const char* const count = std::getenv("MUSTER_SIMULATIONS");
  const char* const seed = std::getenv("MUSTER_SEED");
  const uint32_t first = seed == nullptr ? 1 : static_cast<uint32_t>(std::atol(seed));
  const uint32_t runs = count == nullptr ? 100 : static_cast<uint32_t>(std::atol(count));
  uint64_t generations = 0;
  for (uint32_t i = first; i < first + runs; ++i) {
    SCOPED_TRACE(fmt::format("MUSTER_SEED={} MUSTER_SIMULATIONS=1", i));
    Simulation simulation(i);
    simulation.Run(200);
    simulation.CalmDown();
    generations += simulation.generations();
    EXPECT_TRUE(simulation.IsOver()) << "the job, or an agent, never ends";
    if (HasFailure()) return;
  }
  EXPECT_GT(generations, runs);  // the runs make progress
}

}  // namespace
}  // namespace rendezvous
