#include "local/server/streams/pod_port_forward.h"

#include <fmt/format.h>

#include <mutex>
#include <optional>
#include <vector>

#include "api/object.h"
#include "api/pod.h"
#include "base/strings.h"
#include "cluster/exec/port_stream.h"
#include "local/server/streams/pod_container.h"
#include "local/server/streams/pod_port_tunnel.h"
#include "local/server/streams/shared_websocket.h"
#include "net/websocket/handshake.h"

namespace local::server {
namespace {

constexpr size_t kMaxForwardedPorts = 100;

// Between a WebSocket and the connections to its ports: port n has the channels 2n and 2n + 1.
// Owned by the connections' sinks; the socket has a weak reference.
class PortBridge : public std::enable_shared_from_this<PortBridge> {
 public:
  explicit PortBridge(std::vector<uint16_t> ports) : ports_(std::move(ports)) {}

  // On the connection's thread, before anything can come over it.
  void Open(PortSource& source, std::shared_ptr<net::Responder> responder, net::Headers headers) {
    peer_->Start(std::move(responder), std::move(headers),
                 [weak = weak_from_this()](net::WebSocketPiece piece) {
                   if (const auto self = weak.lock()) self->OnPiece(std::move(piece));
                 });
    left_ = ports_.size();
    is_finished_.resize(left_);
    unused_.resize(left_);
    for (size_t n = 0; n < ports_.size(); ++n) {
      const std::string number = cluster::PortNumber(ports_[n]);
      Send(2 * n + static_cast<size_t>(cluster::kPortData), number);
      Send(2 * n + static_cast<size_t>(cluster::kPortError), number);
    }
    for (size_t n = 0; n < ports_.size(); ++n) {
      connections_.push_back(source.Open(ports_[n], std::make_shared<Sink>(shared_from_this(), n)));
    }
    peer_->OnClose([connections = connections_] {
      for (const auto& connection : connections) connection->HangUp();
    });
  }

 private:
  class Sink final : public PortSink {
   public:
    Sink(std::shared_ptr<PortBridge> bridge, size_t index)
        : bridge_(std::move(bridge)), index_(index) {}
    void Write(std::string bytes) override {
      bridge_->Send(2 * index_ + static_cast<size_t>(cluster::kPortData), bytes);
    }
    size_t PendingBytes() const override { return bridge_->peer_->PendingBytes(); }
    void WhenTaken(size_t limit, std::function<void()> callback) override {
      bridge_->peer_->WhenTaken(limit, std::move(callback));
    }
    void Used(size_t bytes) override { bridge_->OnUsed(index_, bytes); }
    void Finish(const std::string& error) override {
      if (!error.empty()) {
        bridge_->Send(2 * index_ + static_cast<size_t>(cluster::kPortError), error);
      }
      bridge_->OnFinished(index_);
    }

   private:
    const std::shared_ptr<PortBridge> bridge_;
    const size_t index_;
  };

  void Send(size_t channel, const std::string& bytes) {
    peer_->Send(std::string(1, static_cast<char>(channel)).append(bytes));
  }

  void OnUsed(size_t index, size_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      if (is_finished_[index]) return;
      unused_[index] -= bytes;
    }
    peer_->Used(bytes);
  }

  // Data that is still on its way to a closed port no longer delays the others.
  void OnFinished(size_t index) {
    size_t unused = 0;
    bool is_last = false;
    {
      const std::lock_guard lock(mutex_);
      is_finished_[index] = true;
      unused = std::exchange(unused_[index], 0);
      is_last = --left_ == 0;
    }
    peer_->Used(unused);
    if (is_last) peer_->Close(net::WebSocketClose::kNormal, "");
  }

  void OnPiece(net::WebSocketPiece piece) {
    const size_t size = piece.payload.size();
    std::string bytes = std::move(piece.payload);
    if (piece.begins) channel_.reset();
    if (!channel_ && !bytes.empty()) {
      channel_ = static_cast<unsigned char>(bytes.front());
      bytes.erase(0, 1);
    }
    const bool is_data = channel_ && *channel_ % 2 == 0 && *channel_ / 2 < connections_.size();
    if (!is_data || bytes.empty()) return peer_->Used(size);
    const size_t index = *channel_ / 2;
    bool is_finished = false;
    {
      const std::lock_guard lock(mutex_);
      is_finished = is_finished_[index];
      if (!is_finished) unused_[index] += bytes.size();
    }
    if (is_finished) return peer_->Used(size);
    peer_->Used(size - bytes.size());
    connections_[index]->Write(std::move(bytes));
  }

  const std::vector<uint16_t> ports_;
  const std::shared_ptr<SharedWebSocket> peer_ = std::make_shared<SharedWebSocket>();
  std::vector<std::shared_ptr<OpenPort>> connections_;  // of the connection's thread
  std::optional<size_t> channel_;                       // likewise: of the message in hand

  // Never held while the socket is called: that has locks of its own.
  std::mutex mutex_;
  size_t left_ = 0;  // ports that have not closed
  std::vector<bool> is_finished_;
  std::vector<size_t> unused_;  // bytes on their way to each port
};

Answer<std::vector<uint16_t>> ReadPorts(const RestRequest& rest) {
  std::vector<uint16_t> ports;
  for (const auto& [name, value] : rest.target.query) {
    if (name != "ports") continue;
    for (const std::string& text : base::Split(value, ',')) {
      const auto port = base::ParseInt(text);
      if (!port || *port < 1 || *port > UINT16_MAX) {
        return Refuse(BadRequest(fmt::format("unable to parse \"{}\" as a port", text)));
      }
      ports.push_back(static_cast<uint16_t>(*port));
    }
  }
  if (ports.empty()) return Refuse(BadRequest("query parameter \"ports\" is required"));
  if (ports.size() > kMaxForwardedPorts) return Refuse(BadRequest("too many ports"));
  return ports;
}

// The text is kubectl's.
Check CheckIsOpen(const text::Json& pod) {
  if (api::Phase(pod) == "Running") return {};
  return Refuse(BadRequest(fmt::format(
      "unable to forward port because pod is not running. Current status={}", api::Phase(pod))));
}

Answer<net::Headers> AcceptPortUpgrade(const net::HttpRequest& http) {
  if (!net::WantsWebSocket(http)) {
    const bool is_spdy = net::FindHeader(http.headers, "Upgrade").starts_with("SPDY");
    return Refuse(BadRequest(
        is_spdy
            ? "SPDY is only supported inside a WebSocket: use kubectl 1.31 or later, or `muster "
              "port-forward`"
            : "Upgrade request required"));
  }
  auto headers = net::AcceptWebSocket(http, {kPortTunnelProtocol, cluster::kPortProtocol});
  if (!headers) return Refuse(BadRequest(headers.error().message));
  return std::move(*headers);
}

}  // namespace

void HandlePortForward(Backend& backend, Call call) {
  const RestRequest& rest = call.rest;
  const auto refuse = [&](const ApiError& error) { call.responder->Send(ToResponse(error)); };
  const auto pod = ReadPod(backend, rest);
  if (!pod) return refuse(pod.error());
  if (auto open = CheckIsOpen(*pod); !open) return refuse(open.error());
  auto headers = AcceptPortUpgrade(call.http);
  if (!headers) return refuse(headers.error());
  if (backend.port_source == nullptr) {
    return refuse(FromError({base::Code::kUnavailable, "port forwarding is not available", 0}));
  }
  if (net::FindHeader(*headers, "Sec-WebSocket-Protocol") == kPortTunnelProtocol) {
    return ServePortTunnel(*backend.port_source, call.responder, std::move(*headers));
  }
  auto ports = ReadPorts(rest);
  if (!ports) return refuse(ports.error());
  const auto bridge = std::make_shared<PortBridge>(std::move(*ports));
  bridge->Open(*backend.port_source, call.responder, std::move(*headers));
}

}  // namespace local::server
