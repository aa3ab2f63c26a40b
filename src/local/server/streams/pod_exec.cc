#include "local/server/streams/pod_exec.h"

#include <fmt/format.h>

#include <optional>

#include "api/object.h"
#include "api/pod.h"
#include "cluster/exec/exec.h"
#include "local/server/streams/pod_container.h"
#include "net/websocket/handshake.h"
#include "net/websocket/server.h"

namespace local::server {
namespace {

// For a message about the streams: a size, or a stream's number.
constexpr size_t kMaxControlBytes = 1 << 10;

// Between a WebSocket and a command. Owned by the command's source until the end; the socket and
// the connection have weak references.
class ExecBridge final : public ExecSink, public std::enable_shared_from_this<ExecBridge> {
 public:
  explicit ExecBridge(bool has_stdin) : has_stdin_(has_stdin) {}

  // On the connection's thread, before anything can come over it.
  void Open(std::shared_ptr<net::Responder> responder, net::Headers headers) {
    is_v5_ = net::FindHeader(headers, "Sec-WebSocket-Protocol") == cluster::kExecProtocolV5;
    peer_ = net::WebSocketPeer::Start(std::move(responder), std::move(headers),
                                      [weak = weak_from_this()](net::WebSocketPiece piece) {
                                        if (const auto self = weak.lock()) {
                                          self->OnPiece(std::move(piece));
                                        }
                                      });
  }
  void Connect(std::shared_ptr<RunningExec> exec) {
    exec_ = std::move(exec);
    peer_->OnClose([exec = exec_] { exec->HangUp(); });
  }

  void Write(bool is_stderr, std::string bytes) override {
    bytes.insert(0, 1, is_stderr ? cluster::kExecStderr : cluster::kExecStdout);
    peer_->Send(bytes);
  }
  size_t PendingBytes() const override { return peer_->PendingBytes(); }
  void WhenTaken(size_t limit, std::function<void()> callback) override {
    peer_->WhenTaken(limit, std::move(callback));
  }
  void StdinUsed(size_t bytes) override { peer_->Used(bytes); }
  void Finish(base::Result<int> exit_code) override {
    std::string status = text::ToJson(cluster::ExecStatus(exit_code));
    status.insert(0, 1, cluster::kExecStatus);
    peer_->Send(status);
    peer_->Close(net::WebSocketClose::kNormal, "");
  }

 private:
  void OnPiece(net::WebSocketPiece piece) {
    const size_t size = piece.payload.size();
    std::string bytes = std::move(piece.payload);
    if (piece.begins) {
      channel_.reset();
      control_.clear();
    }
    if (!channel_ && !bytes.empty()) {
      channel_ = bytes.front();
      bytes.erase(0, 1);
    }
    if (channel_ == cluster::kExecStdin && has_stdin_) {
      peer_->Used(size - bytes.size());
      if (!bytes.empty()) exec_->WriteStdin(std::move(bytes));
      return;
    }
    peer_->Used(size);
    if (control_.size() + bytes.size() > kMaxControlBytes) return;
    control_ += bytes;
    if (!piece.ends) return;
    if (channel_ == cluster::kExecResize) OnResize();
    if (channel_ == cluster::kExecClose && is_v5_ &&
        control_ == std::string_view(&cluster::kExecStdin, 1)) {
      exec_->CloseStdin();
    }
  }

  void OnResize() {
    const auto size = text::ParseJson(control_);
    if (!size) return;
    const auto columns = text::GetInt(*size, {"Width"});
    const auto rows = text::GetInt(*size, {"Height"});
    if (columns && rows) exec_->Resize(static_cast<int>(*columns), static_cast<int>(*rows));
  }

  const bool has_stdin_;
  bool is_v5_ = false;
  std::shared_ptr<net::WebSocketPeer> peer_;
  std::shared_ptr<RunningExec> exec_;
  std::optional<char> channel_;  // of the message in hand
  std::string control_;          // of it, when it is not the command's
};

Answer<ExecRequest> ReadOptions(const RestRequest& rest) {
  ExecRequest request;
  for (const auto& [name, value] : rest.target.query) {
    if (name == "command") request.command.push_back(value);
  }
  request.has_terminal = rest.Flag("tty");
  request.has_stdin = rest.Flag("stdin");
  request.has_stdout = rest.Flag("stdout");
  // A terminal has one output (kubelet, pkg/kubelet/cri/streaming/remotecommand).
  request.has_stderr = rest.Flag("stderr") && !request.has_terminal;
  if (!request.has_stdin && !request.has_stdout && !request.has_stderr) {
    return Refuse(BadRequest("you must specify at least 1 of stdin, stdout, stderr"));
  }
  if (request.command.empty() || request.command[0].empty()) {
    return Refuse(BadRequest("you must specify at least one command for the container"));
  }
  return request;
}

// Texts: kubectl's for a pod that has ended, a kubelet's for a container that does not run.
Check CheckRuns(const text::Json& pod, std::string_view container) {
  if (api::NodeName(pod).empty()) {
    return Refuse(BadRequest(fmt::format("pod {} does not have a host assigned", api::Name(pod))));
  }
  if (api::IsPodFinished(pod)) {
    return Refuse(BadRequest(fmt::format(
        "cannot exec into a container in a completed pod; current phase is {}", api::Phase(pod))));
  }
  for (const bool is_init : {false, true}) {
    for (const api::ContainerStatus& status :
         is_init ? api::InitContainerStatuses(pod) : api::ContainerStatuses(pod)) {
      if (status.name == container && status.is_running) return {};
    }
  }
  return Refuse({500, "InternalError", fmt::format("container not found (\"{}\")", container), {}});
}

Answer<net::Headers> AcceptUpgrade(const net::HttpRequest& http) {
  if (net::FindHeader(http.headers, "Upgrade").starts_with("SPDY")) {
    return Refuse(BadRequest(
        "SPDY is not supported here: use a client with WebSocket support (kubectl 1.31 or later)"));
  }
  if (!net::WantsWebSocket(http)) return Refuse(BadRequest("Upgrade request required"));
  auto headers = net::AcceptWebSocket(http, {cluster::kExecProtocolV5, cluster::kExecProtocolV4});
  if (!headers) return Refuse(BadRequest(headers.error().message));
  return std::move(*headers);
}

}  // namespace

void HandleExec(Backend& backend, Call call) {
  const RestRequest& rest = call.rest;
  const auto refuse = [&](const ApiError& error) { call.responder->Send(ToResponse(error)); };
  const auto pod = ReadPod(backend, rest);
  if (!pod) return refuse(pod.error());
  auto container = ResolveContainer(*pod, rest.target.Query("container"));
  if (!container) return refuse(container.error());
  auto request = ReadOptions(rest);
  if (!request) return refuse(request.error());
  request->container = std::move(*container);
  if (auto runs = CheckRuns(*pod, request->container); !runs) return refuse(runs.error());
  auto headers = AcceptUpgrade(call.http);
  if (!headers) return refuse(headers.error());
  if (backend.exec_source == nullptr) {
    return refuse(FromError({base::Code::kUnavailable, "exec is not available", 0}));
  }
  const auto bridge = std::make_shared<ExecBridge>(request->has_stdin);
  bridge->Open(call.responder, std::move(*headers));
  bridge->Connect(backend.exec_source->Start(*pod, std::move(*request), bridge));
}

void HandleAttach(Backend& backend, Call call) {
  const auto pod = ReadPod(backend, call.rest);
  if (!pod) return call.responder->Send(ToResponse(pod.error()));
  call.responder->Send(ToResponse(BadRequest(
      "attaching to the main process is not supported here: its input is closed, and its output is "
      "available with `logs -f`; `exec` runs a command beside it")));
}

}  // namespace local::server
