// Rendezvous: how the agents of a job's nodes meet, agree who has which ranks, hear of failures and
// end together. docs/formats/rendezvous.md has the protocol.
//
//   node 0 of the endpoint  ── Listener ──┬─ workers' store (docs/formats/tcpstore.md)
//                                         └─ Authority <── TCP ── Agent of every node (its own too)
//
// One agent's life: Join, then for each generation OnStart -> run workers -> one of Succeeded,
// Failed, or OnStop -> Stopped; at the end OnEnd, once. No two generations run at a time: the next
// OnStart comes after every node has said Stopped or is known to have stopped by itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "process/event_loop.h"

namespace rendezvous {

// What a node asks for. All nodes of a job must agree on run_id, min_nodes, max_nodes,
// max_restarts and whether it is static; a node that does not is told so by name, and ends.
struct NodeRequest {
  std::string run_id = "none";
  int min_nodes = 1;
  int max_nodes = 1;
  int nproc = 1;
  std::string role = "default";
  int max_restarts = 0;
  std::string host;  // as other nodes reach this one (--local-addr)
  // Static: required, 0..max_nodes-1. Elsewhere a wish: nodes that have one come first, in order.
  std::optional<int> node_rank;
  bool is_static = false;
};

struct RendezvousConfig {
  NodeRequest node;
  // Where the agents meet; port 0 only where this node is the one that listens.
  std::string endpoint_host = "localhost";
  uint16_t endpoint_port = 0;
  // Whether this node listens there. Not said: it does when the host is one of this machine's
  // addresses and the port is free; static: when node_rank is 0.
  std::optional<bool> is_host;
  std::string token;  // --rdzv-conf token=; empty: none is asked for

  base::Duration join_timeout = std::chrono::seconds(600);
  // After min_nodes have come, for more to come; none for static.
  base::Duration last_call_timeout = std::chrono::seconds(30);
  base::Duration heartbeat_interval = std::chrono::seconds(1);
  // A node not heard of so long stops its own workers; the authority gives it half as much again
  // and then goes on without it.
  base::Duration heartbeat_timeout = std::chrono::seconds(10);
  // For all nodes to stop their workers, after which a node is taken for lost.
  base::Duration stop_timeout = std::chrono::seconds(90);
};

struct Node {
  std::string host;
  int node_rank = 0;  // 0..n-1, contiguous
  int nproc = 1;
  int first_rank = 0;  // of its workers' global ranks
  std::string role;
  int first_role_rank = 0;
  int role_world_size = 0;
};

// One generation, the same at every node but for `self`.
struct Assignment {
  uint64_t generation = 0;  // counts up from 1, over restarts and membership changes
  int restart_count = 0;    // failures so far, of the whole job (TORCHELASTIC_RESTART_COUNT)
  std::vector<Node> nodes;  // by node_rank
  int self = 0;             // this node's place in `nodes`
  int world_size = 0;
  std::string master_addr;  // of the workers' store
  uint16_t master_port = 0;
};

// The first worker that failed, as its node's agent saw it.
struct Failure {
  std::string host;
  int rank = -1;  // -1: not a worker, the node or its agent
  int local_rank = -1;
  int exit_code = 1;  // negative: minus the signal's number
  std::string text;   // one line or more, for the user
};

enum class StopReason {
  kWorkerFailed,  // somewhere; `failure` says where
  kNodeLost,
  kNodeJoined,  // elastic: one more is let in
  kNodeLeft,
};

enum class EndKind { kSucceeded, kFailed, kError };
struct End {
  EndKind kind = EndKind::kSucceeded;
  std::optional<Failure> failure;  // kFailed: the root cause, the same at every node
  base::Error error;               // kError: this node's rendezvous failed (timeout, disagreement)
};

// What an agent is told, in its loop's thread. Any method of Rendezvous may be called from here.
class RendezvousEvents {
 public:
  virtual ~RendezvousEvents() = default;
  virtual void OnStart(const Assignment& assignment) = 0;
  // Stop the workers of this generation, then call Stopped.
  virtual void OnStop(uint64_t generation, StopReason reason,
                      const std::optional<Failure>& failure) = 0;
  // The job is over, or this node's part in it. Workers that still run are to be stopped.
  virtual void OnEnd(const End& end) = 0;
  // Worth a line on stderr for a human who waits: "waiting for nodes: 1 of 2 have joined (12 s)".
  virtual void OnProgress(const std::string& line) = 0;
};

}  // namespace rendezvous
