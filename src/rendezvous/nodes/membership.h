// Membership: which nodes are in the job, with which ranks, and what happens when nodes join, fail,
// vanish and return. Each job has one authority, at the node that hosts the endpoint. Pure and
// deterministic: events and times go in, decisions come out. docs/formats/rendezvous.md has the
// state diagram.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "rendezvous/nodes/generation.h"

namespace rendezvous {

using NodeId = uint64_t;  // identifies an agent process, which chooses it at random
using Moment = std::chrono::steady_clock::time_point;

struct MembershipTimes {
  base::Duration join_timeout = std::chrono::seconds(600);
  base::Duration last_call_timeout = std::chrono::seconds(30);
  base::Duration heartbeat_timeout = std::chrono::seconds(10);
  base::Duration stop_timeout = std::chrono::seconds(90);
  // How long the guardian of a dead agent needs to end its workers.
  base::Duration death_grace = std::chrono::seconds(1);
};

struct Decision {
  enum class Kind {
    kNewStore,  // empty the workers' store; concerns no node
    kStart,     // assignment
    kStop,      // generation, reason, failure
    kDrop,      // close its connection: it may join again
    kEnd,       // end: the node leaves the job
    kProgress,  // text
  };
  Kind kind = Kind::kProgress;
  NodeId node = 0;
  Assignment assignment;  // the caller fills in master_addr and master_port
  uint64_t generation = 0;
  StopReason reason = StopReason::kWorkerFailed;
  std::optional<Failure> failure;
  End end;
  std::string text;
};
using Decisions = std::vector<Decision>;

class Membership {
 public:
  // `job` is the request of the host's node, with which the others must agree. If it has lost
  // another host, this authority goes on where that one ended.
  Membership(NodeRequest job, MembershipTimes times, Moment now);

  // Events. Those of unknown nodes or past generations change nothing. A node that joins again
  // under its id has stopped its workers, and so has one that ran below another authority.
  Decisions Join(NodeId node, const NodeRequest& request, bool is_host, Moment now);
  void Heard(NodeId node, Moment now);
  Decisions Succeeded(NodeId node, uint64_t generation, Moment now);
  Decisions Failed(NodeId node, uint64_t generation, const Failure& failure, Moment now);
  Decisions Stopped(NodeId node, uint64_t generation, Moment now);
  // The node's user ended it; its workers have stopped.
  Decisions Leave(NodeId node, const std::string& why, Moment now);
  // Its connection ended. `has_died`: the kernel of the other side closed it, so the process is
  // gone; otherwise the node is only silent.
  Decisions Disconnected(NodeId node, bool has_died, Moment now);
  // Shows a line to the user at every node.
  Decisions Announce(const std::string& line);
  // To be called at NextDeadline, and any number of times before.
  Decisions Tick(Moment now);

  std::optional<Moment> NextDeadline() const;
  bool has_ended() const { return phase_ == Phase::kEnded; }
  uint64_t generation() const { return generation_; }
  // Its node rank in the present generation; nullopt unless its workers run there, or have
  // succeeded.
  std::optional<int> NodeRankOf(NodeId node) const;
  int restart_count() const { return restart_count_; }

 private:
  enum class Phase { kGathering, kRunning, kStopping, kEnded };
  enum class State {
    kWaiting,   // for a generation that it can join
    kRunning,   // its workers run
    kDone,      // they have succeeded
    kStopping,  // was asked to stop them
    kLost,      // silent; its workers may still run until `fenced_at`
  };
  struct Member {
    NodeRequest request;
    State state = State::kWaiting;
    bool is_host = false;
    uint64_t order = 0;    // of joining
    int last_rank = -1;    // its node rank in the last generation that it took part in
    bool is_gone = false;  // kDone, and its connection has ended
    Moment heard;
    Moment fenced_at;
  };

  std::optional<std::string> Disagreement(const NodeRequest& request) const;
  const Member* HolderOf(int node_rank) const;
  std::string Place(const Member& member) const;
  std::string Awaited() const;
  void Refuse(NodeId node, bool is_stranger, const std::string& why, Decisions& out);
  void Progress(const std::string& line, Decisions& out);
  void Gather(Moment now, Decisions& out);
  void Continue(const Former& former);
  bool IsOfFormer(const NodeRequest& request) const;
  Moment FormerEnd() const;
  void StartIfReady(Moment now, Decisions& out);
  std::vector<NodeId> Chosen() const;
  void Start(const std::vector<NodeId>& chosen, Decisions& out);
  void StopAll(StopReason reason, std::optional<Failure> failure, Moment now, Decisions& out);
  void AfterStop(Moment now, Decisions& out);
  void Lose(const std::vector<NodeId>& nodes, Moment fenced_at, const std::string& how, Moment now,
            Decisions& out);
  void JoinRunning(NodeId node, Moment now, Decisions& out);
  // A member is lost, for good or for now: goes on without it, waits for it, or ends the job.
  void Shrink(const Failure& failure, StopReason reason, Moment now, Decisions& out);
  void FailAll(const Failure& failure, Decisions& out);
  bool CanReplaceHost() const;
  void NoteSilence(Moment now, Decisions& out);
  void NoteStopTimeout(Moment now, Decisions& out);
  base::Duration SilenceLimit() const { return times_.heartbeat_timeout * 3 / 2; }
  Member* Of(NodeId node, uint64_t generation);
  void EndAll(const End& end, Decisions& out);
  size_t Count(State state) const;
  bool IsFixed() const { return job_.min_nodes == job_.max_nodes; }

  NodeRequest job_;
  MembershipTimes times_;
  Moment began_;
  // Set while the last generation of another authority, below which nodes that have joined here
  // ran, may still run elsewhere.
  std::optional<Former> former_;
  bool has_two_formers_ = false;  // of two hosts, one after the other: neither knows of all nodes
  Phase phase_ = Phase::kGathering;
  std::map<NodeId, Member> members_;
  uint64_t next_order_ = 0;
  uint64_t generation_ = 0;
  int restart_count_ = 0;
  // While nodes gather: the first deadline ends with an error, the second starts with fewer than
  // max_nodes.
  Moment join_deadline_;
  std::optional<Moment> last_call_;
  std::optional<Failure> lost_;  // set when nodes gather again because one was lost
  Moment stop_deadline_;
  std::optional<End> end_;  // nullopt in kEnded: the host has left, and another takes its place
};

}  // namespace rendezvous
