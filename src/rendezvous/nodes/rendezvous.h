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
#include "rendezvous/nodes/generation.h"
#include "rendezvous/store/server.h"

namespace rendezvous {

struct RendezvousConfig {
  NodeRequest node;
  // Where the agents meet; port 0 only where this node is the one that listens.
  std::string endpoint_host = "localhost";
  uint16_t endpoint_port = 0;
  std::string endpoint_flag = "--rdzv-endpoint";  // which said so
  // Whether this node listens there. Not said: it does when the host is one of this machine's
  // addresses and the port is free; static: when node_rank is 0.
  std::optional<bool> is_host;
  std::string token;  // --rdzv-conf token=; empty: none is asked for

  base::Duration join_timeout = std::chrono::seconds(600);
  // After min_nodes have come, for more to come; none for static.
  base::Duration last_call_timeout = std::chrono::seconds(30);
  base::Duration heartbeat_interval = std::chrono::seconds(1);
  // A node that has not heard of the authority for so long stops its own workers; the authority
  // gives it half as much again and then goes on without it.
  base::Duration heartbeat_timeout = std::chrono::seconds(10);
  // For all nodes to stop their workers, after which a node is taken for lost.
  base::Duration stop_timeout = std::chrono::seconds(90);
};

// What an agent is told, in its loop's thread. Any method of Rendezvous may be called from here.
class RendezvousEvents {
 public:
  virtual ~RendezvousEvents() = default;
  virtual void OnStart(const Assignment& assignment) = 0;
  // Stop the workers of this generation, then call Stopped. After `within` at the latest they must
  // be gone: the others go on then. May come again, with less time (the host is lost meanwhile).
  virtual void OnStop(uint64_t generation, StopReason reason, const std::optional<Failure>& failure,
                      base::Duration within) = 0;
  // The job is over, or this node's part in it. Workers that still run are to be stopped.
  virtual void OnEnd(const End& end) = 0;
  // Workers of this node that run may go on for so long, and for longer only when this comes again:
  // whoever can end them while the agent itself cannot does so then, before the others go on.
  // Nothing: there are none that anybody waits for.
  virtual void OnLease(std::optional<base::Duration> left) { (void)left; }
  // Worth a line on stderr for a human who waits: "waiting for nodes: 1 of 2 have joined (12 s)".
  virtual void OnProgress(const std::string& line) = 0;
};

// In the loop's thread. The host's part (the workers' store and the authority) has a thread of its
// own, so that it answers while this node's agent is busy.
class Rendezvous {
 public:
  // Listens if this node is the host, and begins to join; never waits for other nodes. Blocks for
  // as long as it takes to look up the endpoint's name, a few seconds at most; a name that is not
  // known is asked for again. Errors: the port is in use (static, or is_host), the request makes no
  // sense. Borrows loop, clock and events, which must outlive it.
  static base::Result<std::unique_ptr<Rendezvous>> Join(process::EventLoop& loop,
                                                        base::Clock& clock,
                                                        const RendezvousConfig& config,
                                                        RendezvousEvents& events);
  // Closes the connection. At the host it waits, two seconds at most, for the other nodes to have
  // heard how the job ended.
  ~Rendezvous();

  // What became of this node's workers, once for each generation. Of a generation that is over,
  // or after OnEnd: nothing happens.
  void Succeeded(uint64_t generation);
  void Failed(uint64_t generation, const Failure& failure);
  void Stopped(uint64_t generation);
  // This node's user ends it; its workers have stopped. OnEnd is not called any more.
  void Leave(const std::string& why);

  bool is_host() const;
  // Of the endpoint: the one asked for, or at the host the one it got.
  uint16_t port() const;
  // Of the workers' store, at the host; elsewhere empty.
  StoreSnapshot Snapshot();

 private:
  class Impl;
  explicit Rendezvous(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rendezvous
