// What nodes request and what they are assigned: plain data, shared by the authority and the
// agents.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace rendezvous {

// What a node knows of an authority that it has lost.
struct Former {
  // Of the last generation that this node ran there; 0: none, and the rest is meaningless.
  uint64_t generation = 0;
  uint64_t authority = 0;
  int restart_count = 0;
  int guests = 0;  // its nodes, but for the authority's own
  int node_rank = 0;
  // The authority's process closed the connection, so that no later generation began without this
  // node.
  bool is_last = false;
};

// What a node requests. All nodes of a job must agree on min_nodes, max_nodes, max_restarts and
// is_static; otherwise all are told which node disagrees, and end. A node with another run_id
// belongs to another job and is refused alone.
struct NodeRequest {
  std::string run_id = "none";
  int min_nodes = 1;
  int max_nodes = 1;
  int nproc = 1;
  std::string role = "default";
  int max_restarts = 0;
  std::string host;  // how other nodes reach this one (--local-addr)
  // Static: required, 0..max_nodes-1. Otherwise a preference: nodes that have one come first, in
  // order.
  std::optional<int> node_rank;
  bool is_static = false;
  // It runs on the host's machine, and would serve the endpoint in its place.
  bool can_host = false;
  std::optional<Former> former;
};

struct Node {
  std::string host;
  int node_rank = 0;  // 0..n-1, contiguous
  int nproc = 1;
  int first_rank = 0;  // the lowest global rank of its workers
  std::string role;
  int first_role_rank = 0;
  int role_world_size = 0;
};

// One generation, the same at every node except for `self`.
struct Assignment {
  uint64_t generation = 0;  // counts up from 1, over restarts and membership changes
  uint64_t authority = 0;   // the id of the node that hosts it; two may both have a generation 2
  int restart_count = 0;    // failures so far, of the whole job (TORCHELASTIC_RESTART_COUNT)
  std::vector<Node> nodes;  // by node_rank
  int self = 0;             // this node's place in `nodes`
  int guests = 0;           // how many of `nodes` are not the authority's own
  int world_size = 0;
  std::string master_addr;  // of the workers' store
  uint16_t master_port = 0;
};

// "2" or "1:4".
std::string NnodesOf(const NodeRequest& request);
// How a node's request disagrees with the job; nullopt when it agrees: "b has --nnodes 3, the
// others --nnodes 2: give every node the same".
std::optional<std::string> DisagreementOf(const NodeRequest& job, const NodeRequest& request);

// `nodes` are sorted by rank. Leaves master_addr, master_port, self and guests unset.
Assignment MakeAssignment(uint64_t generation, int restart_count,
                          const std::vector<const NodeRequest*>& nodes);

// The first worker that failed, as its node's agent saw it.
struct Failure {
  std::string host;
  int rank = -1;  // -1: the node or its agent, not a worker
  int local_rank = -1;
  int exit_code = 1;         // negative: minus the signal's number
  std::string text;          // one or more lines for the user
  int pid = 0;               // on its host; 0: not a worker
  std::string last_lines{};  // the last lines of its stderr
  bool is_final = false;     // it would fail in the same way again, so a restart is of no use
  // Why its node killed it, with the words in `text`, or that the kernel did.
  bool has_stalled = false;
  bool has_lost_loss = false;
  bool was_out_of_memory = false;
};

enum class StopReason {
  kWorkerFailed,  // somewhere; `failure` says where
  kNodeLost,
  kNodeJoined,  // elastic: another node is admitted
  kNodeLeft,
  kHostLost,  // no message has it: an agent finds out by itself
};

enum class EndKind { kSucceeded, kFailed, kError };
struct End {
  EndKind kind = EndKind::kSucceeded;
  std::optional<Failure> failure;  // kFailed: the root cause, the same at every node
  base::Error error;               // kError: this node's rendezvous failed (timeout, disagreement)
};

}  // namespace rendezvous
