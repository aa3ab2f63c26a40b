// AgentLink: one connection between an agent and the authority, used by both sides. It handles the
// frames, the challenge, and the loss of the other side.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/digest/hmac.h"
#include "base/fd.h"
#include "process/event_loop.h"
#include "rendezvous/nodes/agent_message.h"
#include "rendezvous/sockets/output_queue.h"

namespace rendezvous {

// Used in the loop's thread. Callbacks are not called once the link is closed or destroyed; a
// callback may close or destroy it.
class AgentLink {
 public:
  enum class Side { kAgent, kAuthority };
  struct Closed {
    bool has_died = false;          // the peer's kernel closed the connection
    bool is_refused = false;        // trying again will not help
    bool is_other_version = false;  // a muster agent, but not of this version
    std::string why;                // for the user
  };
  struct Callbacks {
    // The challenge has been passed: messages may be sent.
    std::function<void()> on_ready;
    std::function<void(const AgentMessage&)> on_message;
    std::function<void(const Closed&)> on_closed;
  };

  // `fd` is connected and does not block. `received`: bytes already read from it. With a token, the
  // peer must prove that it has the same one, and every message is authenticated.
  AgentLink(process::EventLoop& loop, base::Fd fd, Side side, std::string token,
            Callbacks callbacks);
  ~AgentLink();
  AgentLink(const AgentLink&) = delete;
  AgentLink& operator=(const AgentLink&) = delete;

  // Says hello and begins to read.
  void Start(std::string_view received = {});
  // Only after on_ready. If the peer has gone, the message is lost.
  void Send(const AgentMessage& message);
  // Sends the reason (before the challenge is passed) and then closes.
  void Refuse(const std::string& why);
  void Close();
  // From now on it sends nothing, reads nothing and calls nobody back, but the connection stays
  // open: its end would signal to the peer that this process is gone.
  void FallSilent();
  bool is_ready() const { return is_ready_; }
  bool is_open() const { return static_cast<bool>(fd_); }

 private:
  void OnReady(uint32_t events);
  void Read();
  void Consume();
  bool ConsumeFrame();
  void OnMessage(const AgentMessage& message);
  void OnHello(const AgentMessage& message);
  void OnProof(const AgentMessage& message);
  void SendFrame(const AgentMessage& message);
  void Flush();
  void Lost(const Closed& closed);
  base::Digest ProofOf(Side side) const;
  base::Digest TagOf(Side sender, uint64_t number, std::string_view body) const;

  process::EventLoop& loop_;
  base::Fd fd_;
  Side side_;
  std::string token_;
  Callbacks callbacks_;
  std::shared_ptr<bool> is_alive_ = std::make_shared<bool>(true);
  std::string input_;
  OutputQueue output_;
  bool has_magic_ = false;
  bool is_ready_ = false;
  bool is_authenticated_ = false;  // frames carry tags
  bool is_closing_ = false;
  std::string own_nonce_;
  std::string peer_nonce_;
  std::string session_key_;
  uint64_t sent_ = 0;
  uint64_t received_ = 0;
};

}  // namespace rendezvous
