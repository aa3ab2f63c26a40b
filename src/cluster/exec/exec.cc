#include "cluster/exec/exec.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace cluster {
namespace {

constexpr std::string_view kNonZeroExitCode = "NonZeroExitCode";
constexpr std::string_view kExitCodeCause = "ExitCode";
// As in client-go; a server may hold a whole message in memory.
constexpr size_t kMaxStdinMessage = 32 << 10;

std::string Message(char channel, std::string_view bytes) {
  std::string message(1, channel);
  return message.append(bytes);
}

}  // namespace

// The texts are Kubernetes' (k8s.io/kubelet, pkg/cri/streaming/remotecommand/exec.go).
text::Json ExecStatus(const base::Result<int>& exit_code) {
  if (exit_code && *exit_code == 0) {
    return text::Object{{"metadata", text::Object{}}, {"status", "Success"}};
  }
  if (exit_code) {
    return text::Object{
        {"metadata", text::Object{}},
        {"status", "Failure"},
        {"message", fmt::format("command terminated with non-zero exit code: command terminated "
                                "with exit code {}",
                                *exit_code)},
        {"reason", kNonZeroExitCode},
        {"details", text::Object{{"causes", text::Array{text::Object{
                                                {"reason", kExitCodeCause},
                                                {"message", std::to_string(*exit_code)}}}}}}};
  }
  const std::string message =
      fmt::format("Internal error occurred: error executing command in container: {}",
                  exit_code.error().message);
  return text::Object{
      {"metadata", text::Object{}},
      {"status", "Failure"},
      {"message", message},
      {"reason", "InternalError"},
      {"details", text::Object{{"causes", text::Array{text::Object{{"message", message}}}}}},
      {"code", 500}};
}

base::Result<int> ParseExecStatus(std::string_view json) {
  const auto status = text::ParseJson(json);
  if (status && text::GetString(*status, {"status"}) == "Success") return 0;
  if (!status) return base::Fail(status.error().Wrap("the command's status"));
  if (text::GetString(*status, {"reason"}) != kNonZeroExitCode) {
    std::string message(text::GetString(*status, {"message"}));
    if (message.empty()) message = "the command failed, and the server does not say why";
    return base::Fail(base::Code::kInternal, std::move(message));
  }
  for (const text::Json& cause : text::Items(*status, {"details", "causes"})) {
    if (text::GetString(cause, {"reason"}) != kExitCodeCause) continue;
    const auto code = base::ParseInt(text::GetString(cause, {"message"}));
    if (code && *code > 0 && *code <= 255) return static_cast<int>(*code);
  }
  return base::Fail(base::Code::kInternal, "the command failed, and its exit code is unknown");
}

base::Result<std::optional<ExecOutput>> ExecStream::Read() {
  while (true) {
    TRY_ASSIGN(std::optional<net::WebSocketPiece> piece, socket_->Read());
    if (!piece) {
      if (status_.empty()) {
        return base::Fail(base::Code::kUnavailable,
                          "the server closed the connection before the command's end");
      }
      result_ = ParseExecStatus(status_);
      return std::optional<ExecOutput>();
    }
    std::string bytes = std::move(piece->payload);
    if (piece->begins) channel_.reset();
    if (!channel_ && !bytes.empty()) {
      channel_ = bytes.front();
      bytes.erase(0, 1);
    }
    if (bytes.empty()) continue;
    if (channel_ == kExecStdout || channel_ == kExecStderr) {
      return std::optional(ExecOutput{channel_ == kExecStderr, std::move(bytes)});
    }
    if (channel_ != kExecStatus) continue;  // of a later version of the protocol
    status_ += bytes;
    if (status_.size() > kMaxExecStatusBytes) {
      return base::Fail(base::Code::kExhausted, "the status of the command is too large");
    }
  }
}

base::Status ExecStream::WriteStdin(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, kMaxStdinMessage);
    TRY(socket_->Send(Message(kExecStdin, part)));
    bytes.remove_prefix(part.size());
  }
  return {};
}

base::Status ExecStream::CloseStdin() {
  if (socket_->protocol() != kExecProtocolV5) return {};
  return socket_->Send(Message(kExecClose, std::string_view(&kExecStdin, 1)));
}

base::Status ExecStream::Resize(int columns, int rows) {
  return socket_->Send(
      Message(kExecResize, fmt::format(R"({{"Width":{},"Height":{}}})", columns, rows)));
}

}  // namespace cluster
