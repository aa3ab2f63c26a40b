// A command in a container: Kubernetes' remote command protocol over a WebSocket
// (k8s.io/apimachinery/pkg/util/remotecommand, v4 and v5). Each message begins with the number of
// its channel.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/websocket/client.h"
#include "text/json.h"

namespace cluster {

// v5 is v4 with kExecClose.
inline constexpr const char* kExecProtocolV5 = "v5.channel.k8s.io";
inline constexpr const char* kExecProtocolV4 = "v4.channel.k8s.io";

inline constexpr char kExecStdin = 0;
inline constexpr char kExecStdout = 1;
inline constexpr char kExecStderr = 2;
inline constexpr char kExecStatus = 3;                       // a metav1.Status; the last message
inline constexpr char kExecResize = 4;                       // {"Width":80,"Height":24}
inline constexpr char kExecClose = static_cast<char>(0xff);  // then the number of a channel
inline constexpr size_t kMaxExecStatusBytes = 1 << 20;

// The Status that reports how a command ended, and the inverse. An error means that the command
// could not run.
text::Json ExecStatus(const base::Result<int>& exit_code);
base::Result<int> ParseExecStatus(std::string_view json);

struct ExecOptions {
  std::string container{};             // "": the pod's default
  std::vector<std::string> command{};  // at least one word
  bool has_stdin = false;
  bool has_tty = false;  // stderr is then part of stdout
};

struct ExecOutput {
  bool is_stderr = false;
  std::string bytes;
};

// A running command. Read from one thread; everything else from any. The server ends the command if
// the stream is closed before its end.
class ExecStream {
 public:
  explicit ExecStream(std::unique_ptr<net::WebSocket> socket) : socket_(std::move(socket)) {}

  // The next output of the command; nullopt when it has ended. Blocks. kUnavailable when the
  // connection broke, kCancelled after Cancel.
  base::Result<std::optional<ExecOutput>> Read();
  // After the end: the exit code, 128 + n for signal n; or why it could not run.
  const base::Result<int>& result() const { return result_; }

  // Blocks while the command is slow to read. An error when the connection is gone.
  base::Status WriteStdin(std::string_view bytes);
  // Ends the command's input. Does nothing when the server speaks v4 only, which has no message for
  // this.
  base::Status CloseStdin();
  base::Status Resize(int columns, int rows);
  // Makes the current Read or Write, and all later ones, fail.
  void Cancel() { socket_->Cancel(); }

 private:
  const std::unique_ptr<net::WebSocket> socket_;
  std::optional<char> channel_;  // of the current message
  std::string status_;
  base::Result<int> result_ = base::Fail(base::Code::kUnavailable, "the command has not ended");
};

}  // namespace cluster
