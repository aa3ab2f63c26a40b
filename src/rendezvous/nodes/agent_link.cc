#include "rendezvous/nodes/agent_link.h"

#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace rendezvous {
namespace {

constexpr uint32_t kMaxFrame = 16 << 20;
constexpr uint32_t kMaxFrameBeforeProof = 4096;
constexpr size_t kTagBytes = sizeof(base::Digest);
constexpr size_t kReadBytes = 64 << 10;
constexpr std::string_view kAnyAgent = "muster-rdzv ";  // begins kAgentMagic of any version
constexpr const char* kOtherVersion =
    "another version of muster runs there, and every node needs the same";

std::string NewNonce() {
  std::string nonce(kNonceBytes, '\0');
  size_t got = 0;
  while (got < nonce.size()) {
    const ssize_t some = ::getrandom(nonce.data() + got, nonce.size() - got, 0);
    if (some > 0) got += static_cast<size_t>(some);
  }
  return nonce;
}

}  // namespace

AgentLink::AgentLink(process::EventLoop& loop, base::Fd fd, Side side, std::string token,
                     Callbacks callbacks)
    : loop_(loop),
      fd_(std::move(fd)),
      side_(side),
      token_(std::move(token)),
      callbacks_(std::move(callbacks)),
      own_nonce_(NewNonce()) {}

AgentLink::~AgentLink() {
  *is_alive_ = false;
  Close();
}

void AgentLink::Close() {
  if (!fd_) return;
  loop_.Unwatch(fd_.get());
  fd_.Reset();
}

void AgentLink::FallSilent() {
  if (!fd_) return;
  loop_.Unwatch(fd_.get());
  callbacks_ = {};
  is_closing_ = true;
}

void AgentLink::Start(std::string_view received) {
  output_.Append(kAgentMagic);
  AgentMessage hello;
  hello.type = AgentMessage::Type::kHello;
  hello.flag = !token_.empty();
  hello.text = own_nonce_;
  if (!loop_.Watch(fd_.get(), EPOLLIN, [this](uint32_t events) { OnReady(events); })) {
    return Lost({.why = "epoll refuses the connection"});
  }
  input_ = received;
  const std::shared_ptr<bool> alive = is_alive_;
  SendFrame(hello);
  if (*alive && fd_) Consume();
}

void AgentLink::Lost(const Closed& closed) {
  if (!fd_) return;
  Close();
  const auto on_closed = callbacks_.on_closed;
  if (on_closed) on_closed(closed);
}

void AgentLink::OnReady(uint32_t events) {
  const std::shared_ptr<bool> alive = is_alive_;
  if ((events & EPOLLOUT) != 0) Flush();
  if (*alive && fd_ && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) Read();
}

void AgentLink::Read() {
  std::array<char, kReadBytes> buffer;
  const ssize_t got = ::read(fd_.get(), buffer.data(), buffer.size());
  if (got < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return;
    return Lost({.why = std::string("the connection broke: ") + std::strerror(errno)});
  }
  if (got == 0) return Lost({.has_died = true, .why = "the other side closed the connection"});
  if (is_closing_) return;
  input_.append(buffer.data(), static_cast<size_t>(got));
  Consume();
}

void AgentLink::Consume() {
  if (!has_magic_) {
    const size_t known = std::min(input_.size(), kAgentMagic.size());
    if (input_.compare(0, known, kAgentMagic.substr(0, known)) != 0) {
      const bool is_other_version = input_.starts_with(kAnyAgent);
      return Lost({.is_refused = true,
                   .is_other_version = is_other_version,
                   .why = is_other_version ? kOtherVersion : "the other side is no muster agent"});
    }
    if (known < kAgentMagic.size()) return;
    input_.erase(0, known);
    has_magic_ = true;
  }
  const std::shared_ptr<bool> alive = is_alive_;
  while (*alive && fd_ && !is_closing_ && ConsumeFrame()) {
  }
}

// Reads one frame: u32 length, body, and a tag when authenticated. False when it is incomplete.
bool AgentLink::ConsumeFrame() {
  uint32_t size = 0;
  if (input_.size() < sizeof size) return false;
  std::memcpy(&size, input_.data(), sizeof size);
  if (size > (is_ready_ ? kMaxFrame : kMaxFrameBeforeProof)) {
    Lost({.why = "the other side sent an invalid message"});
    return false;
  }
  const size_t tag = is_authenticated_ ? kTagBytes : 0;
  if (input_.size() < sizeof size + size + tag) return false;
  const std::string body = input_.substr(sizeof size, size);
  if (is_authenticated_) {
    const Side sender = side_ == Side::kAgent ? Side::kAuthority : Side::kAgent;
    const base::Digest expected = TagOf(sender, received_++, body);
    if (!base::SameDigest(base::ViewOf(expected),
                          std::string_view(input_).substr(sizeof size + size, tag))) {
      Lost({.why = "a message was changed in transit"});
      return false;
    }
  }
  input_.erase(0, sizeof size + size + tag);
  const base::Result<AgentMessage> message = DecodeMessage(body);
  if (!message) {
    Lost({.why = message.error().message});
    return false;
  }
  OnMessage(*message);
  return true;
}

void AgentLink::OnMessage(const AgentMessage& message) {
  using Type = AgentMessage::Type;
  if (message.type == Type::kRefused) return Lost({.is_refused = true, .why = message.text});
  if (is_ready_) {
    if (message.type == Type::kHello || message.type == Type::kProof) {
      return Lost({.why = "the other side sent a message out of turn"});
    }
    const auto on_message = callbacks_.on_message;
    return on_message(message);
  }
  if (message.type == Type::kHello && peer_nonce_.empty()) return OnHello(message);
  if (message.type == Type::kProof && !peer_nonce_.empty()) return OnProof(message);
  Lost({.why = "the other side sent a message out of turn"});
}

void AgentLink::OnHello(const AgentMessage& message) {
  if (message.text.size() != kNonceBytes || message.text == own_nonce_) {
    return Lost({.why = "the other side sent no nonce"});
  }
  peer_nonce_ = message.text;
  if (message.flag == token_.empty()) {
    const bool ours = !token_.empty();
    const std::string why =
        ours ? "this node has a token (--rdzv-conf token=), the other node has none"
             : "the job asks for a token: give --rdzv-conf token=";
    if (side_ == Side::kAuthority) {
      return Refuse(ours ? "the job asks for a token: give --rdzv-conf token="
                         : "this node has a token (--rdzv-conf token=), the host has none");
    }
    return Lost({.is_refused = true, .why = why});
  }
  const std::string agent = side_ == Side::kAgent ? own_nonce_ : peer_nonce_;
  const std::string authority = side_ == Side::kAgent ? peer_nonce_ : own_nonce_;
  session_key_ = base::ViewOf(base::HmacSha256(token_, "session" + authority + agent));
  // The agent proves itself first, so that the host reveals nothing to strangers.
  if (side_ == Side::kAgent) {
    AgentMessage proof;
    proof.type = AgentMessage::Type::kProof;
    if (!token_.empty()) proof.text = base::ViewOf(ProofOf(Side::kAgent));
    SendFrame(proof);
  }
}

void AgentLink::OnProof(const AgentMessage& message) {
  const Side sender = side_ == Side::kAgent ? Side::kAuthority : Side::kAgent;
  if (!token_.empty() && !base::SameDigest(base::ViewOf(ProofOf(sender)), message.text)) {
    const std::string why = "the token (--rdzv-conf token=) differs from the job's";
    return side_ == Side::kAuthority ? Refuse(why) : Lost({.is_refused = true, .why = why});
  }
  const std::shared_ptr<bool> alive = is_alive_;
  if (side_ == Side::kAuthority) {
    AgentMessage proof;
    proof.type = AgentMessage::Type::kProof;
    if (!token_.empty()) proof.text = base::ViewOf(ProofOf(Side::kAuthority));
    SendFrame(proof);
  }
  if (!*alive || !fd_) return;
  is_ready_ = true;
  is_authenticated_ = !token_.empty();
  const auto on_ready = callbacks_.on_ready;
  if (on_ready) on_ready();
}

base::Digest AgentLink::ProofOf(Side side) const {
  const bool is_agent = side_ == Side::kAgent;
  const std::string& agent = is_agent ? own_nonce_ : peer_nonce_;
  const std::string& authority = is_agent ? peer_nonce_ : own_nonce_;
  return base::HmacSha256(token_,
                          (side == Side::kAgent ? "agent" : "authority") + authority + agent);
}

base::Digest AgentLink::TagOf(Side sender, uint64_t number, std::string_view body) const {
  std::string text(sender == Side::kAgent ? "a" : "h");
  text.append(reinterpret_cast<const char*>(&number), sizeof number);
  text.append(body);
  return base::HmacSha256(session_key_, text);
}

void AgentLink::SendFrame(const AgentMessage& message) {
  const std::string body = EncodeMessage(message);
  output_.AppendNumber(static_cast<uint32_t>(body.size()));
  output_.Append(body);
  if (is_authenticated_) output_.Append(base::ViewOf(TagOf(side_, sent_++, body)));
  Flush();
}

void AgentLink::Send(const AgentMessage& message) {
  if (fd_ && is_ready_ && !is_closing_) SendFrame(message);
}

void AgentLink::Refuse(const std::string& why) {
  if (!fd_) return;
  AgentMessage refusal;
  refusal.type = AgentMessage::Type::kRefused;
  refusal.text = why;
  is_closing_ = true;
  SendFrame(refusal);
}

void AgentLink::Flush() {
  if (!fd_) return;
  switch (output_.Flush(fd_.get())) {
    case OutputQueue::Flushed::kAll:
      // The peer closes once it has read the refusal; if this side closed first, the refusal might
      // be lost.
      if (is_closing_) ::shutdown(fd_.get(), SHUT_WR);
      (void)loop_.Watch(fd_.get(), EPOLLIN, [this](uint32_t events) { OnReady(events); });
      return;
    case OutputQueue::Flushed::kBlocked:
      (void)loop_.Watch(fd_.get(), EPOLLIN | EPOLLOUT,
                        [this](uint32_t events) { OnReady(events); });
      return;
    case OutputQueue::Flushed::kBroken:
      return Lost({.why = "the connection broke"});
  }
}

}  // namespace rendezvous
