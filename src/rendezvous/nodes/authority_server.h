// AuthorityServer: the membership of a job and the agents' connections to it; runs at the host.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "process/event_loop.h"
#include "rendezvous/nodes/agent_link.h"
#include "rendezvous/nodes/membership.h"
#include "rendezvous/sockets/listener.h"

namespace rendezvous {

struct AuthorityConfig {
  NodeRequest job;
  NodeId host = 0;  // the agent in this process
  MembershipTimes times;
  std::string token;
  uint16_t store_port = 0;
};

// Used in the loop's thread; borrows loop and clock.
class AuthorityServer {
 public:
  // `reset_store` is called before each generation.
  AuthorityServer(process::EventLoop& loop, base::Clock& clock, AuthorityConfig config,
                  std::function<void()> reset_store);
  ~AuthorityServer();
  AuthorityServer(const AuthorityServer&) = delete;
  AuthorityServer& operator=(const AuthorityServer&) = delete;

  // Takes over a connection that begins with the first byte of kAgentMagic.
  void Adopt(base::Fd fd, const Endpoint& peer, std::string_view received);
  // Shows a line to the user at every node.
  void Announce(const std::string& line) { Carry(membership_.Announce(line)); }
  // Reports the first request of a client of the workers' store at `address`. Tells the user, once
  // for each address, when it cannot be a worker of this job.
  void NoteStoreClient(const std::string& address, bool is_torchrun);
  // Calls back once no other node's agent is connected; at once if none is.
  void WhenAlone(std::function<void()> callback);

 private:
  struct Peer;
  void OnMessage(Peer& peer, const AgentMessage& message);
  void OnClosed(uint64_t id, bool has_died);
  void Carry(Decisions decisions);
  void Send(Peer& peer, const Decision& decision);
  void Relay(const Peer& from, AgentMessage message);
  Peer* Of(NodeId node);
  void Drop(uint64_t id);
  void Schedule();
  void CallIfAlone();
  void NoteStranger(std::string line);
  void ReportStrangers();

  process::EventLoop& loop_;
  base::Clock& clock_;
  AuthorityConfig config_;
  std::function<void()> reset_store_;
  Membership membership_;
  uint64_t next_id_ = 1;
  std::map<uint64_t, std::shared_ptr<Peer>> peers_;
  std::map<NodeId, uint64_t> peer_of_node_;
  std::map<NodeId, uint64_t> newest_of_node_;  // the last peer by which each has joined
  process::EventLoop::TimerId timer_ = 0;
  std::function<void()> when_alone_;
  std::deque<Decision> pending_;
  std::map<std::string, bool> strangers_;  // what is said of each, and whether it was
  bool is_carrying_ = false;
};

}  // namespace rendezvous
