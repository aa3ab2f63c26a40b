// Rendezvous: how the agents of a job's nodes meet, agree on ranks, learn of failures and end
// together. docs/formats/rendezvous.md has the protocol.
//
//   node 0 of the endpoint  ── Listener ──┬─ workers' store (docs/formats/tcpstore.md)
//                                         └─ Authority <── TCP ── Agent of every node (its own too)
//
// The life of an agent: Join, then for each generation OnStart -> run workers -> one of Succeeded,
// Failed, or OnStop -> Stopped; at the end OnEnd, once. Two generations never run at the same time:
// the next OnStart comes after every node has called Stopped or is known to have stopped by itself.
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
#include "rendezvous/nodes/generation.h"
#include "rendezvous/store/server.h"

namespace rendezvous {

struct RendezvousConfig {
  NodeRequest node;
  // Where the agents meet; port 0 is allowed only at the node that listens.
  std::string endpoint_host = "localhost";
  uint16_t endpoint_port = 0;
  std::string endpoint_flag = "--rdzv-endpoint";  // the flag that set it
  // Whether this node listens there. When unset, it does if the host is one of this machine's
  // addresses and the port is free; for static rendezvous, if node_rank is 0.
  std::optional<bool> is_host;
  std::string token;  // --rdzv-conf token=; empty: no authentication

  base::Duration join_timeout = std::chrono::seconds(600);
  // How long to wait for more nodes after min_nodes have joined; not used by static rendezvous.
  base::Duration last_call_timeout = std::chrono::seconds(30);
  base::Duration heartbeat_interval = std::chrono::seconds(1);
  // A node that has not heard from the authority for this long stops its own workers; the authority
  // waits half as long again and then goes on without the node.
  base::Duration heartbeat_timeout = std::chrono::seconds(10);
  // For all nodes to stop their workers; after that, a node counts as lost.
  base::Duration stop_timeout = std::chrono::seconds(90);
};

// What an agent is told, in its loop's thread. It may call any method of Rendezvous from here.
class RendezvousEvents {
 public:
  virtual ~RendezvousEvents() = default;
  virtual void OnStart(const Assignment& assignment) = 0;
  // Stop the workers of this generation, then call Stopped. They must be gone within `within`,
  // because the other nodes go on then. May be called again with less time, when the host is lost
  // meanwhile.
  virtual void OnStop(uint64_t generation, StopReason reason, const std::optional<Failure>& failure,
                      base::Duration within) = 0;
  // The job is over, or this node's part of it. Workers that still run have to be stopped.
  virtual void OnEnd(const End& end) = 0;
  // The running workers of this node may run for `left`, and longer only if this is called again. A
  // guardian that can end them while the agent itself cannot must do so then, before the other
  // nodes go on. Nullopt: no workers run that others wait for.
  virtual void OnLease(std::optional<base::Duration> left) { (void)left; }
  // What the agent of the node with that rank in the running generation has told
  // (Rendezvous::Tell).
  virtual void OnTold(int node_rank, const std::string& text) { (void)node_rank, (void)text; }
  // A line on stderr for a user who waits: "waiting for nodes: 1 of 2 have joined (12 s)".
  virtual void OnProgress(const std::string& line) = 0;
};

// Used in the loop's thread. The host's part (the workers' store and the authority) has a thread of
// its own, so that it answers while this node's agent is busy.
class Rendezvous {
 public:
  // Listens if this node is the host, and begins to join; never waits for other nodes. Blocks while
  // it looks up the endpoint's name, a few seconds at most; an unknown name is looked up again
  // later. Errors: the port is in use (static, or is_host), or the request is contradictory.
  // Borrows loop, clock and events, which must outlive it.
  static base::Result<std::unique_ptr<Rendezvous>> Join(process::EventLoop& loop,
                                                        base::Clock& clock,
                                                        const RendezvousConfig& config,
                                                        RendezvousEvents& events);
  // Closes the connection. At the host, waits at most two seconds for the other nodes to learn how
  // the job ended.
  ~Rendezvous();

  // The result of this node's workers, once for each generation. Calls for a past generation or
  // after OnEnd have no effect.
  void Succeeded(uint64_t generation);
  void Failed(uint64_t generation, const Failure& failure);
  void Stopped(uint64_t generation);
  // From the host's agent to those of all other nodes, or from one of them to the host's. Best
  // effort; at most kLongestTold bytes.
  void Tell(uint64_t generation, const std::string& text);
  // The user of this node ends it; its workers have stopped. OnEnd is not called afterwards.
  void Leave(const std::string& why);

  bool is_host() const;
  // The endpoint's port: the requested one, or at the host the actual one.
  uint16_t port() const;
  // At the host: frees the port soon, for the host that comes next. Elsewhere no effect.
  void StopListening();
  // The state of the workers' store, at the host; elsewhere empty.
  StoreSnapshot Snapshot();

  static constexpr size_t kLongestTold = size_t{4} << 20;

 private:
  class Impl;
  explicit Rendezvous(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rendezvous
