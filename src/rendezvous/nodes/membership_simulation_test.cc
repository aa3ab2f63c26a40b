// Agents join, die, fall silent, lose their connections, fail and leave in random orders (seeded).
// Whatever happens, ranks are right and two generations never run at the same time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "rendezvous/nodes/membership.h"

namespace rendezvous {
namespace {

using std::chrono::milliseconds;

constexpr NodeId kHost = 1;

class Simulation {
 public:
  explicit Simulation(uint32_t seed) : random_(seed) {
    request_.nproc = Pick(1, 4);
    request_.min_nodes = Pick(1, 3);
    request_.max_nodes = request_.min_nodes + Pick(0, 3);
    request_.max_restarts = Pick(0, 20);
    membership_.emplace(request_, times_, now_);
    Arrive(kHost);
  }

  void Run(int steps) {
    for (int step = 0; step < steps && !membership_->has_ended(); ++step) {
      Disturb();
      Advance(milliseconds(Pick(0, 4) == 0 ? Pick(1, 8000) : Pick(1, 400)));
    }
  }
  // Nothing goes wrong any more: every agent is reachable and all workers succeed.
  void CalmDown() {
    is_calm_ = true;
    for (auto& [id, agent] : agents_) agent.is_silent = false;
    for (int step = 0; step < 30'000 && !membership_->has_ended(); ++step) {
      for (auto& [id, agent] : agents_) {
        if (agent.is_running && !agent.stops_at && Pick(0, 20) == 0) Succeed(id);
      }
      if (agents_.size() < static_cast<size_t>(request_.min_nodes)) Arrive(next_id_++);
      Advance(milliseconds(Pick(1, 500)));
    }
  }
  bool has_ended() const { return membership_->has_ended(); }
  uint64_t generations() const { return membership_->generation(); }

 private:
  struct Agent {
    bool is_connected = true;
    bool is_silent = false;   // partitioned: neither side hears the other
    bool is_dead = false;     // the process; its workers live on for a moment
    bool is_running = false;  // workers
    uint64_t generation = 0;
    Moment heard;  // when it last heard from the authority
    std::optional<Moment> stops_at;
    bool says_stopped = false;  // tells the authority, once they have stopped
    bool has_stopped = false;   // it has stopped, and the message is on its way
    Decisions inbox;            // undelivered while the network is down
  };

  int Pick(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random_); }
  Agent* AnyAgent(bool may_be_host) {
    if (agents_.empty()) return nullptr;
    auto place = std::next(agents_.begin(), Pick(0, static_cast<int>(agents_.size()) - 1));
    picked_ = place->first;
    const bool is_usable = !place->second.is_dead && (may_be_host || picked_ != kHost);
    return is_usable ? &place->second : nullptr;
  }

  void Arrive(NodeId id) {
    NodeRequest request = request_;
    request.host = fmt::format("n{}", id);
    if (Pick(0, 9) == 0) request.node_rank = Pick(0, 3);
    requests_[id] = request;
    agents_[id].heard = now_;
    Carry(membership_->Join(id, request, id == kHost, now_));
  }

  void Disturb() {
    const int what = Pick(0, 11);
    if (what == 0 && agents_.size() < 7) return Arrive(next_id_++);
    Agent* const agent = AnyAgent(what <= 1 || what >= 6);
    if (agent == nullptr) return;
    const NodeId id = picked_;
    switch (what) {
      case 1:
        if (agent->is_running && !agent->stops_at) Fail(id);
        return;
      case 2:  // killed: the guardian ends its workers within the grace period
        agent->is_dead = true;
        agent->says_stopped = false;
        agent->stops_at = now_ + milliseconds(Pick(0, 900));
        if (agent->is_connected) Disconnect(id, !agent->is_silent);
        return;
      case 3:
        agent->is_silent = !agent->is_silent;
        return;
      case 4:  // the connection breaks, both sides notice
        if (agent->is_connected && !agent->is_silent) {
          Disconnect(id, false);
          LoseAuthority(*agent);
        }
        return;
      case 5:
        if (agent->is_connected && !agent->is_silent && Pick(0, 3) == 0) {
          agents_.erase(id);
          Carry(membership_->Leave(id, "asked to", now_));
        }
        return;
      case 6:
        if (agent->is_running && !agent->stops_at && Pick(0, 3) == 0) Succeed(id);
        return;
      default:
        return;
    }
  }

  void Fail(NodeId id) {
    Agent& agent = agents_.at(id);
    if (agent.is_silent || !agent.is_connected) return;
    Carry(membership_->Failed(id, agent.generation, {requests_[id].host, 0, 0, 1, "x"}, now_));
  }
  void Succeed(NodeId id) {
    Agent& agent = agents_.at(id);
    if (agent.is_silent || !agent.is_connected || agent.is_dead) return;
    agent.is_running = false;
    Carry(membership_->Succeeded(id, agent.generation, now_));
  }
  void Disconnect(NodeId id, bool has_died) {
    agents_.at(id).is_connected = false;
    Carry(membership_->Disconnected(id, has_died, now_));
  }
  // An agent that cannot reach the authority ends its workers soon.
  void LoseAuthority(Agent& agent) {
    agent.is_connected = false;
    agent.says_stopped = false;
    const Moment soon = now_ + milliseconds(Pick(0, 4900));
    if (!agent.stops_at || *agent.stops_at > soon) agent.stops_at = soon;
  }

  void Advance(base::Duration by) {
    const Moment until = now_ + by;
    while (now_ < until) {
      now_ += milliseconds(100);
      for (auto& [id, agent] : agents_) MoveAgent(id, agent);
      std::erase_if(agents_, [](const auto& entry) {
        return entry.second.is_dead && !entry.second.is_running;
      });
      Reconnect();
      Carry(membership_->Tick(now_));
      const auto next = membership_->NextDeadline();
      ASSERT_TRUE(!next || *next > now_) << "a deadline that Tick leaves in the past";
    }
  }
  void MoveAgent(NodeId id, Agent& agent) {
    if (agent.is_connected && !agent.is_silent && !agent.is_dead) {
      membership_->Heard(id, now_);
      agent.heard = now_;
    }
    if (agent.is_connected && now_ - agent.heard >= times_.heartbeat_timeout) LoseAuthority(agent);
    if (agent.stops_at && *agent.stops_at <= now_) {
      agent.is_running = false;
      agent.stops_at.reset();
      agent.has_stopped = agent.says_stopped && agent.is_connected;
      agent.says_stopped = false;
    }
    if (!agent.is_connected || agent.is_dead) {
      agent.has_stopped = false;
      agent.inbox.clear();
    } else if (!agent.is_silent) {
      for (const Decision& decision : std::exchange(agent.inbox, {})) Hear(agent, decision);
      if (std::exchange(agent.has_stopped, false)) stopped_.push_back({id, agent.generation});
    }
  }
  void Reconnect() {
    for (const auto& [id, generation] : std::exchange(stopped_, {})) {
      Carry(membership_->Stopped(id, generation, now_));
    }
    for (auto& [id, agent] : agents_) {
      if (agent.is_connected || agent.is_silent || agent.is_dead || agent.is_running) continue;
      if (!is_calm_ && Pick(0, 9) != 0) continue;
      rejoining_.push_back(id);
    }
    // Decisions made before a node has joined again go to its old connection, which nobody reads.
    for (const NodeId id : std::exchange(rejoining_, {})) {
      const auto found = agents_.find(id);
      if (found == agents_.end()) continue;
      found->second.stops_at.reset();
      found->second.is_connected = true;
      found->second.heard = now_;
      Carry(membership_->Join(id, requests_[id], id == kHost, now_));
    }
  }

  void Carry(const Decisions& decisions) {
    CheckStarts(decisions);
    for (const Decision& decision : decisions) {
      const auto found = agents_.find(decision.node);
      if (found == agents_.end()) continue;
      Agent& agent = found->second;
      if (!agent.is_connected || agent.is_dead) continue;
      if (agent.is_silent || !agent.inbox.empty()) {
        agent.inbox.push_back(decision);
      } else {
        Hear(agent, decision);
      }
    }
  }
  void Hear(Agent& agent, const Decision& decision) {
    switch (decision.kind) {
      case Decision::Kind::kDrop:
        LoseAuthority(agent);
        break;
      case Decision::Kind::kStart:
        agent.is_running = true;
        agent.generation = decision.assignment.generation;
        break;
      case Decision::Kind::kStop:
        EXPECT_EQ(decision.generation, agent.generation);
        agent.stops_at = now_ + milliseconds(Pick(0, 8000));
        agent.says_stopped = true;
        break;
      case Decision::Kind::kEnd:
        agent.is_dead = true;
        agent.stops_at = now_ + milliseconds(Pick(0, 900));
        agent.says_stopped = false;
        break;
      default:
        break;
    }
  }

  void CheckStarts(const Decisions& decisions) {
    std::set<int> selves;
    std::optional<Assignment> first;
    for (const Decision& decision : decisions) {
      if (decision.kind != Decision::Kind::kStart) continue;
      const Assignment& assignment = decision.assignment;
      if (!first) first = assignment;
      EXPECT_EQ(assignment.generation, first->generation);
      EXPECT_EQ(assignment.nodes.size(), first->nodes.size());
      EXPECT_EQ(assignment.nodes[static_cast<size_t>(assignment.self)].host,
                requests_[decision.node].host);
      EXPECT_TRUE(selves.insert(assignment.self).second) << "a rank given twice";
    }
    if (!first) return;
    const int count = static_cast<int>(first->nodes.size());
    EXPECT_EQ(static_cast<int>(selves.size()), count) << "a rank that nobody has";
    EXPECT_GE(count, request_.min_nodes);
    EXPECT_LE(count, request_.max_nodes);
    EXPECT_EQ(first->world_size, count * request_.nproc);
    int next = 0;
    for (const Node& node : first->nodes) {
      EXPECT_EQ(node.first_rank, next);
      next += node.nproc;
    }
    EXPECT_GT(first->generation, last_generation_);
    last_generation_ = first->generation;
    for (const auto& [id, agent] : agents_) {
      EXPECT_FALSE(agent.is_running) << "n" << id << " still runs generation " << agent.generation
                                     << " as " << first->generation << " starts";
    }
  }

  std::mt19937 random_;
  MembershipTimes times_;
  NodeRequest request_;
  Moment now_ = Moment(std::chrono::seconds(1000));
  std::optional<Membership> membership_;
  std::map<NodeId, Agent> agents_;
  std::map<NodeId, NodeRequest> requests_;
  NodeId next_id_ = kHost + 1;
  NodeId picked_ = 0;
  uint64_t last_generation_ = 0;
  bool is_calm_ = false;
  std::vector<std::pair<NodeId, uint64_t>> stopped_;
  std::vector<NodeId> rejoining_;
};

// MUSTER_SIMULATIONS and MUSTER_SEED: how many runs, or which one to repeat.
TEST(MembershipSimulation, RanksAreRightAndNoTwoGenerationsRunWhateverHappens) {
  const char* const count = std::getenv("MUSTER_SIMULATIONS");
  const char* const seed = std::getenv("MUSTER_SEED");
  const uint32_t first = seed == nullptr ? 1 : static_cast<uint32_t>(std::atol(seed));
  const uint32_t runs = count == nullptr ? 300 : static_cast<uint32_t>(std::atol(count));
  uint64_t generations = 0;
  for (uint32_t i = first; i < first + runs; ++i) {
    SCOPED_TRACE(fmt::format("MUSTER_SEED={} MUSTER_SIMULATIONS=1", i));
    Simulation simulation(i);
    simulation.Run(400);
    simulation.CalmDown();
    generations += simulation.generations();
    EXPECT_TRUE(simulation.has_ended()) << "the job never ends";
    if (HasFailure()) return;
  }
  EXPECT_GT(generations, runs);  // the runs make progress
}

}  // namespace
}  // namespace rendezvous
