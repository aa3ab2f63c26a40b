#include "local/server/streams/pod_port_tunnel.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/strings.h"
#include "local/server/streams/shared_websocket.h"
#include "net/websocket/spdy.h"

namespace local::server {
namespace {

constexpr size_t kMaxTunnelConnections = 1000;

// One connection to a port, and the two streams by which the client sees it.
struct TunnelConnection {
  uint32_t data_stream = 0;  // 0: not yet there
  uint32_t error_stream = 0;
  std::shared_ptr<OpenPort> port;  // once both are
  size_t unused = 0;               // bytes on their way to it
};

// Held by the socket's end until the client goes: it may have no connection for hours.
class PortTunnel : public std::enable_shared_from_this<PortTunnel> {
 public:
  explicit PortTunnel(PortSource& source) : source_(source) {}

  void Start(std::shared_ptr<net::Responder> responder, net::Headers headers) {
    peer_->Start(std::move(responder), std::move(headers),
                 [weak = weak_from_this()](net::WebSocketPiece piece) {
                   if (const auto self = weak.lock()) self->OnPiece(std::move(piece));
                 });
    peer_->OnClose([self = shared_from_this()] { self->OnClose(); });
  }

 private:
  class Sink final : public PortSink {
   public:
    Sink(std::shared_ptr<PortTunnel> tunnel, uint32_t data_stream)
        : tunnel_(std::move(tunnel)), data_stream_(data_stream) {}
    void Write(std::string bytes) override {
      tunnel_->peer_->Send(net::SpdyWriter::Data(data_stream_, bytes, false));
    }
    size_t PendingBytes() const override { return tunnel_->peer_->PendingBytes(); }
    void WhenTaken(size_t limit, std::function<void()> callback) override {
      tunnel_->peer_->WhenTaken(limit, std::move(callback));
    }
    void Used(size_t bytes) override { tunnel_->OnUsed(data_stream_, bytes); }
    void Finish(const std::string& error) override { tunnel_->OnFinished(data_stream_, error); }

   private:
    const std::shared_ptr<PortTunnel> tunnel_;
    const uint32_t data_stream_;
  };

  void OnPiece(net::WebSocketPiece piece);
  void OnEvent(net::SpdyEvent event);
  void OnOpen(const net::SpdyEvent& event);
  void OnData(net::SpdyEvent event);
  void OnEnd(uint32_t stream);
  void OnReset(uint32_t stream);
  void OnUsed(uint32_t data_stream, size_t bytes);
  void OnFinished(uint32_t data_stream, const std::string& error);
  void OnClose();
  void GiveUp(const std::string& why);

  using Connections = std::map<std::string, TunnelConnection>;
  // Notes the stream, unless the tunnel is full or has it; connection: its requestid and port.
  // True: it was noted; `data_stream` is then set if the connection has both of its streams.
  bool Add(const std::string& connection, bool is_error, uint32_t stream,
           std::optional<uint32_t>& data_stream);

  // With the mutex held.
  Connections::iterator FindByData(uint32_t stream) {
    return std::find_if(connections_.begin(), connections_.end(), [stream](const auto& entry) {
      return stream != 0 && entry.second.data_stream == stream;
    });
  }

  PortSource& source_;
  const std::shared_ptr<SharedWebSocket> peer_ = std::make_shared<SharedWebSocket>();

  // For the connection's thread only.
  net::SpdyParser parser_;
  net::SpdyWriter writer_;
  bool is_over_ = false;

  // Never held while the socket is called: that takes a lock of its own, and calls OnClose.
  std::mutex mutex_;
  Connections connections_;  // by request and port
};

void PortTunnel::OnPiece(net::WebSocketPiece piece) {
  size_t overhead = piece.payload.size();
  std::vector<net::SpdyEvent> events;
  if (!is_over_) {
    if (const auto fed = parser_.Feed(piece.payload, events); !fed) GiveUp(fed.error().message);
  }
  for (const net::SpdyEvent& event : events) overhead -= event.payload.size();
  peer_->Used(overhead);
  for (net::SpdyEvent& event : events) OnEvent(std::move(event));
}

void PortTunnel::OnEvent(net::SpdyEvent event) {
  using Kind = net::SpdyEvent::Kind;
  switch (event.kind) {
    case Kind::kOpen:
      return OnOpen(event);
    case Kind::kData:
      return OnData(std::move(event));
    case Kind::kEnd:
      return OnEnd(event.stream);
    case Kind::kReset:
      return OnReset(event.stream);
    case Kind::kPing:
      return peer_->Send(net::SpdyWriter::Ping(event.stream));
  }
}

void PortTunnel::OnOpen(const net::SpdyEvent& event) {
  const std::string_view type = net::FindHeader(event.headers, "streamtype");
  const std::string port_text(net::FindHeader(event.headers, "port"));
  const auto port = base::ParseInt(port_text);
  const bool is_error = type == "error";
  if (!port || *port < 1 || *port > UINT16_MAX || (!is_error && type != "data")) {
    return peer_->Send(net::SpdyWriter::Reset(event.stream));
  }
  const std::string_view request = net::FindHeader(event.headers, "requestid");
  const std::string key = std::string(request).append("/").append(port_text);
  std::optional<uint32_t> data_stream;
  if (!Add(key, is_error, event.stream, data_stream)) {
    return peer_->Send(net::SpdyWriter::Reset(event.stream));
  }
  peer_->Send(writer_.Reply(event.stream));
  if (!data_stream) return;
  auto open = source_.Open(static_cast<uint16_t>(*port),
                           std::make_shared<Sink>(shared_from_this(), *data_stream));
  const std::lock_guard lock(mutex_);
  // It may have finished already.
  const auto found = connections_.find(key);
  if (found != connections_.end() && found->second.data_stream == *data_stream) {
    found->second.port = std::move(open);
  }
}

bool PortTunnel::Add(const std::string& connection, bool is_error, uint32_t stream,
                     std::optional<uint32_t>& data_stream) {
  const std::lock_guard lock(mutex_);
  if (connections_.size() >= kMaxTunnelConnections && !connections_.contains(connection)) {
    return false;
  }
  TunnelConnection& streams = connections_[connection];
  uint32_t& place = is_error ? streams.error_stream : streams.data_stream;
  if (place != 0) return false;
  place = stream;
  if (streams.error_stream != 0 && streams.data_stream != 0) data_stream = streams.data_stream;
  return true;
}

void PortTunnel::OnData(net::SpdyEvent event) {
  const size_t size = event.payload.size();
  std::shared_ptr<OpenPort> port;
  {
    const std::lock_guard lock(mutex_);
    const auto found = FindByData(event.stream);
    if (found != connections_.end()) port = found->second.port;
    if (port) found->second.unused += size;
  }
  if (!port) return peer_->Used(size);
  port->Write(std::move(event.payload));
}

void PortTunnel::OnEnd(uint32_t stream) {
  std::shared_ptr<OpenPort> port;
  {
    const std::lock_guard lock(mutex_);
    const auto found = FindByData(stream);
    if (found != connections_.end()) port = found->second.port;
  }
  if (port) port->EndWrites();
}

// The client's own connection has broken: it waits for the end of the other stream.
void PortTunnel::OnReset(uint32_t stream) {
  TunnelConnection connection;
  {
    const std::lock_guard lock(mutex_);
    const auto found = FindByData(stream);
    if (found == connections_.end()) return;
    connection = std::move(found->second);
    connections_.erase(found);
  }
  peer_->Used(connection.unused);
  if (connection.port) connection.port->HangUp();
  if (connection.error_stream != 0) {
    peer_->Send(net::SpdyWriter::Data(connection.error_stream, "", true));
  }
}

void PortTunnel::OnUsed(uint32_t data_stream, size_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = FindByData(data_stream);
    if (found == connections_.end()) return;
    found->second.unused -= bytes;
  }
  peer_->Used(bytes);
}

void PortTunnel::OnFinished(uint32_t data_stream, const std::string& error) {
  uint32_t error_stream = 0;
  size_t unused = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto found = FindByData(data_stream);
    if (found == connections_.end()) return;
    error_stream = found->second.error_stream;
    unused = found->second.unused;
    connections_.erase(found);
  }
  peer_->Used(unused);
  peer_->Send(net::SpdyWriter::Data(error_stream, error, true));
  peer_->Send(net::SpdyWriter::Data(data_stream, "", true));
}

void PortTunnel::OnClose() {
  Connections connections;
  {
    const std::lock_guard lock(mutex_);
    connections.swap(connections_);
  }
  for (const auto& [key, connection] : connections) {
    if (connection.port) connection.port->HangUp();
  }
}

void PortTunnel::GiveUp(const std::string& why) {
  is_over_ = true;
  base::LogWarn("closing a forwarded port's connection: {}", why);
  peer_->Close(net::WebSocketClose::kProtocolError, why);
  OnClose();
}

}  // namespace

void ServePortTunnel(PortSource& source, std::shared_ptr<net::Responder> responder,
                     net::Headers headers) {
  std::make_shared<PortTunnel>(source)->Start(std::move(responder), std::move(headers));
}

}  // namespace local::server
